/** JSON in lines, for reading. */
export function indented(json: string) {
	try {
		return JSON.stringify(JSON.parse(json), null, 2)
	} catch {
		return json
	}
}
