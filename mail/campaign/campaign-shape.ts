import type { Output } from '../liquid/liquid-engine.ts'
import { asText } from '../liquid/printing.ts'

/**
 * The structure of a body for one contact: pieces of the template's own text in a certain order, with
 * values in between. Bodies with the same key differ only in their values.
 */
export interface Shape {
	key: string
	/** The body with a mark in place of each value. Expensive, and rarely needed. */
	marked: () => string
	/** The printed, escaped values. Equal texts are one value. */
	values: string[]
}

/** Something that every mail contains, whatever its template: its stand-in and its value. */
export interface Known {
	standIn: string
	value: string
}

// Characters that mails don't use. A body that contains them is rendered in full.
const opening = '\ue000'
const closing = '\ue001'

export const markOf = (index: number) => `${opening}${index}${closing}`
/** Replaces the marks by the values. */
export const withValues = (text: string, values: string[]) =>
	text.replaceAll(/\ue000(\d+)\ue001/g, (_, index) => values[Number(index)]!)
export const hasMarks = (text: string) => text.includes(opening)
export const markIndexes = (text: string) =>
	[...text.matchAll(/\ue000(\d+)\ue001/g)].map(([, index]) => Number(index))

/**
 * Whether every reader of the markup takes this value for plain text, wherever it is: it contains no
 * markup, no space to collapse or trim, and nothing that the text part leaves out.
 */
function isTame(value: string): boolean {
	return plain.test(value) || (escaped.test(value) && !value.includes('\u034f'))
}

const plain = /^[\w.,:;!?@%+*()/-]+(?: [\w.,:;!?@%+*()/-]+)*$/
const escaped =
	/^(?:[^\s\p{C}<>"'&]|&(?:amp|lt|gt|quot|#39);)+(?: (?:[^\s\p{C}<>"'&]|&(?:amp|lt|gt|quot|#39);)+)*$/u

/** With these a value determines the kind of its link, and so how the link is treated. */
const scheme = /^(?:https?:\/\/|mailto:|tel:)/i

/** A body with more values is rendered in full: shapes are for bodies that many contacts share. */
const mostValues = 200
const mostLiterals = 5000
const longestBody = 2 ** 20

/** The distinct pieces of a template's own text, for all its shapes. */
export type Literals = Map<string, number>

/** Records where each piece of a body comes from. */
export class ShapeNotes implements Output {
	buffer = ''
	isLiteral = false
	readonly #literals: Literals
	readonly #knowns: Known[]
	readonly #contactId: string
	readonly #pieces: string[] = []
	readonly #values: string[] = []
	#key = ''
	#length = 0
	#isWhole = true

	constructor(literals: Literals, knowns: Known[], contactId: string) {
		this.#literals = literals
		this.#knowns = knowns
		this.#contactId = contactId
	}

	write(value: unknown) {
		const text = typeof value === 'string' ? value : asText(value, 'body')
		this.#length += text.length
		if (this.#length > longestBody) this.#isWhole = false
		if (!this.#isWhole || text === '') return
		if (this.isLiteral) this.#writeLiteral(text)
		else this.#writeValue(text)
	}

	/** Null when a value is not tame, or contains the contact's id and so might be one of our links. */
	take(): Shape | null {
		const pieces = this.#pieces
		return this.#isWhole
			? { key: this.#key, marked: () => pieces.join(''), values: this.#values }
			: null
	}

	#writeLiteral(text: string) {
		const literals = this.#literals
		let number = literals.get(text)
		if (number === undefined) {
			number = literals.size
			if (number >= mostLiterals) this.#isWhole = false
			else literals.set(text, number)
		}
		this.#pieces.push(text)
		this.#key += `${number} `
	}

	#writeValue(text: string) {
		const known = this.#knowns.findIndex(({ value }) => value === text)
		if (known >= 0) {
			this.#pieces.push(this.#knowns[known]!.standIn)
			this.#key += `k${known} `
			return
		}
		const start = scheme.exec(text)?.[0] ?? ''
		const rest = text.slice(start.length)
		if (!isTame(rest) || rest.includes(this.#contactId)) this.#isWhole = false
		if (start !== '') this.#writeLiteral(start)
		let index = this.#values.indexOf(rest)
		if (index < 0) index = this.#values.push(rest) - 1
		if (index >= mostValues) this.#isWhole = false
		this.#pieces.push(markOf(index))
		this.#key += `v${index} `
	}
}
