/** A text from the address. Digits alone have become a number on the way. */
export function textParam(given: unknown) {
	if (typeof given === 'number') return String(given)
	return typeof given === 'string' ? given : undefined
}
