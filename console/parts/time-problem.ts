/** Why mail can't wait for a time that was given in a field. The API takes a time that has passed for now. */
export function timeProblem(given: string): Error | null {
	if (given === '') return new Error('Choose a day and a time.')
	return new Date(given).getTime() > Date.now() ? null : new Error('This time is in the past.')
}
