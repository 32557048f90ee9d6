/** Parsing this much takes about a millisecond. */
const longestPart = 2 ** 15

const [openBrace, closeBrace, closeBracket] = [0x7b, 0x7d, 0x5d]
/**
 * Precedes each part after the first, so that its leading comma is checked. No body may contain this name.
 */
const placeholder = '__proto__'

interface Container {
	isObject: boolean
	startsAt: number
	/** Where the unparsed text begins. */
	from: number
	/** The value parsed so far; undefined: none. */
	built: unknown[] | Record<string, unknown> | undefined
}

export type JsonBuilder = ReturnType<typeof createBuilder>

/**
 * Parses JSON in parts, so that there can be pauses in between. A scanner reports the structure. The
 * result is that of parsing the whole, which takes 30 ms per megabyte for objects with ever new members.
 */
export function createBuilder(bytes: Buffer) {
	const open: Container[] = []
	let root: { value: unknown; startsAt: number; endsAt: number } | undefined

	/** The container's text so far, as a complete container. */
	function take(container: Container, end: number, last = '') {
		const { isObject, from, built } = container
		const first = built ? (isObject ? `"${placeholder}":0` : '0') : ''
		const inner = `${first}${bytes.toString('utf8', from, end)}${last}`
		const part = parse(isObject ? `{${inner}}` : `[${inner}]`, from)
		if (!built) container.built = part as Container['built']
		else if (Array.isArray(built)) for (const item of (part as unknown[]).slice(1)) built.push(item)
		else
			for (const name of Object.keys(part as object))
				if (name !== placeholder) built[name] = (part as Record<string, unknown>)[name]
	}

	/** Inserts a child that was parsed separately. */
	function put(parent: Container, child: Container, name: string | null) {
		take(parent, child.startsAt, 'null')
		if (Array.isArray(parent.built)) parent.built[parent.built.length - 1] = child.built
		else if (name !== placeholder) parent.built![name!] = child.built
	}

	function parse(text: string, from: number): unknown {
		try {
			return JSON.parse(text)
		} catch (error) {
			throw broken((error as Error).message, from)
		}
	}

	return {
		opened(at: number) {
			if (root) throw broken('Unexpected text around it', root.endsAt)
			const isObject = bytes[at] === openBrace
			open.push({ isObject, startsAt: at, from: at + 1, built: undefined })
		},

		comma(at: number) {
			const container = open.at(-1)
			if (!container || at - container.from <= longestPart) return
			take(container, at)
			container.from = at
		},

		/** `nameOf` returns its name in the parent, if that is an object. */
		closed(at: number, nameOf: () => string) {
			const container = open.pop()
			if (!container || (!container.built && at - container.from <= longestPart)) return
			if (bytes[at] !== (container.isObject ? closeBrace : closeBracket))
				throw broken('Unexpected bracket', at)
			take(container, at)
			const parent = open.at(-1)
			if (!parent) {
				const { built: value, startsAt } = container
				root = { value, startsAt, endsAt: at + 1 }
			} else {
				put(parent, container, parent.isObject ? nameOf() : null)
				parent.from = at + 1
			}
		},

		/** Undefined: the text was empty. */
		end() {
			if (open.length > 0 && bytes.length > longestPart)
				throw broken('Unexpected end of JSON input', bytes.length)
			// Some clients start with a byte order mark.
			const text = bytes.toString('utf8', 0, root?.startsAt).replace(/^\uFEFF/, '')
			if (!root) return text.trim() === '' ? undefined : parse(text, 0)
			const around = text + bytes.toString('utf8', root.endsAt)
			if (/[^ \t\r\n]/.test(around)) throw broken('Unexpected text around it', root.endsAt)
			return root.value
		},
	}
}

/** The parser's positions and quotations refer to a part, not to the whole. */
const broken = (message: string, from: number) =>
	new SyntaxError(
		from === 0
			? message
			: `${message.replace(/ in JSON at position .*|, .* is not valid JSON$/s, '')} after position ${from}`,
	)
