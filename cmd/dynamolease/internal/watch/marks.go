package watch

const marks = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// nodeMark returns the character of a member, by its number from 0.
func nodeMark(number int) string {
	if number >= len(marks) {
		return "+"
	}
	return marks[number : number+1]
}
