/** A value of data in a line. */
export function dataText(value: unknown) {
	if (value === undefined || value === null) return '–'
	if (typeof value === 'boolean') return value ? 'yes' : 'no'
	return typeof value === 'string' ? value : JSON.stringify(value)
}
