/** A text, unless it reads as another value of JSON: `true`, `12`, `null`, `["a"]`. */
export function typedValue(typed: string): unknown {
	if (!/^(?:true|false|null|-?\d+(?:\.\d+)?|[[{].*[\]}])$/s.test(typed.trim())) return typed
	try {
		return JSON.parse(typed)
	} catch {
		return typed
	}
}

export const asTyped = (value: unknown) =>
	value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
