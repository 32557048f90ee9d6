import type { Output } from './liquid-engine.ts'
import { asText } from './printing.ts'

/**
 * What a body is made of for one contact: the template's own text in a certain order, and values in
 * between. Contacts whose bodies have the same key differ in their values only.
 */
export interface Shape {
	key: string
	/** The body with a mark in place of each value; costs something, and is rarely asked for. */
	marked(): string
	/** As printed, escaped; equal ones are the same value. */
	values: string[]
}

/** Something every mail has, whatever its template: what stands for it, and what it is. */
export interface Known {
	standIn: string
	value: string
}

// Characters that nobody uses; a body that has them all the same is rendered whole.
const opening = '\ue000'
const closing = '\ue001'

export const markOf = (index: number) => `${opening}${index}${closing}`
/** Puts the values in place of their marks. */
export const withValues = (text: string, values: string[]) =>
	text.replaceAll(/\ue000(\d+)\ue001/g, (_, index) => values[Number(index)]!)
export const hasMarks = (text: string) => text.includes(opening)
export const markIndexes = (text: string) =>
	[...text.matchAll(/\ue000(\d+)\ue001/g)].map(([, index]) => Number(index))

/**
 * A value that no reader of the markup could take for anything but the text it is, wherever it stands:
 * no markup, no space to collapse or to trim, nothing that is left out of the text part.
 */
function isTame(value: string): boolean {
	return plain.test(value) || (escaped.test(value) && !value.includes('\u034f'))
}

const plain = /^[\w.,:;!?@%+*()/-]+(?: [\w.,:;!?@%+*()/-]+)*$/
const escaped =
	/^(?:[^\s\p{C}<>"'&]|&(?:amp|lt|gt|quot|#39);)+(?: (?:[^\s\p{C}<>"'&]|&(?:amp|lt|gt|quot|#39);)+)*$/u

/** With these a value says what kind of link it is, which decides what becomes of it. */
const scheme = /^(?:https?:\/\/|mailto:|tel:)/i

/** Beyond these a body is rendered whole: shapes are for what many contacts have in common. */
const mostValues = 200
const mostLiterals = 5000
const longestBody = 2 ** 20

/** What is told apart of a template's own texts, for all shapes of it. */
export type Literals = Map<string, number>

/**
 * Notes where each piece of a body comes from. `take` gives null when some value is not tame, or holds
 * the contact's id, so that it might be a link of ours that is looked for.
 */
export function shapeNotes(literals: Literals, knowns: Known[], contactId: string) {
	const pieces: string[] = []
	const values: string[] = []
	let key = ''
	let length = 0
	let isWhole = true

	function writeLiteral(text: string) {
		let number = literals.get(text)
		if (number === undefined) {
			number = literals.size
			if (number >= mostLiterals) isWhole = false
			else literals.set(text, number)
		}
		pieces.push(text)
		key += `${number} `
	}

	function writeValue(text: string) {
		const known = knowns.findIndex(({ value }) => value === text)
		if (known >= 0) {
			pieces.push(knowns[known]!.standIn)
			key += `k${known} `
			return
		}
		const start = scheme.exec(text)?.[0] ?? ''
		const rest = text.slice(start.length)
		if (!isTame(rest) || rest.includes(contactId)) isWhole = false
		if (start !== '') writeLiteral(start)
		let index = values.indexOf(rest)
		if (index < 0) index = values.push(rest) - 1
		if (index >= mostValues) isWhole = false
		pieces.push(markOf(index))
		key += `v${index} `
	}

	return {
		buffer: '',
		isLiteral: false,
		write(value: unknown) {
			const text = typeof value === 'string' ? value : asText(value, 'body')
			length += text.length
			if (length > longestBody) isWhole = false
			if (!isWhole || text === '') return
			if (this.isLiteral) writeLiteral(text)
			else writeValue(text)
		},
		take: (): Shape | null => (isWhole ? { key, marked: () => pieces.join(''), values } : null),
	} satisfies Output & { take(): Shape | null }
}
