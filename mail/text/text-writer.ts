const maxIndent = 5

export interface TextWriter {
	/** Running text: white space collapses, as on a page. */
	flow(text: string): void
	/** Text that keeps its line breaks and spaces. */
	preformatted(text: string): void
	/** At least this many line breaks before the next text; two make an empty line. */
	breakLines(count: number): void
	/** One more line break: `<br>`. */
	lineBreak(): void
	/** A separator between two texts of one line. It disappears at either end of the line. */
	separate(sign: string): void
	openItem(indent: number, mark: string): void
	quote(depth: number): void
	/** Starts recording the written text; `recorded` ends it. */
	record(): void
	recorded(): string
	result(): string
}

/** Writes plain text piece by piece, without looking back at earlier text. */
export function createTextWriter(): TextWriter {
	const pieces: string[] = []
	let breaks = 0
	let gap = '' // the space or sign between the last text and the next one on the line
	let margin = ''
	let quoteMargin = ''
	let lastQuoteMargin = ''
	let mark = ''
	let isEmpty = true
	let recording: string[] | null = null

	function write(text: string) {
		if (isEmpty) pieces.push(quoteMargin)
		else if (breaks > 0) {
			// The empty line between a quotation and the text around it belongs to neither.
			const shared = Math.min(quoteMargin.length, lastQuoteMargin.length)
			const empty = quoteMargin.slice(0, shared).trimEnd()
			pieces.push(breaks > 1 ? `\n${empty}\n` : '\n', quoteMargin)
		} else pieces.push(gap)
		if (isEmpty || breaks > 0) {
			pieces.push(margin)
			if (mark !== '') {
				pieces.push(mark)
				margin = ' '.repeat(margin.length + mark.length)
				mark = ''
			}
		} else recording?.push(gap)
		pieces.push(text)
		recording?.push(text)
		isEmpty = false
		lastQuoteMargin = quoteMargin
		breaks = 0
		gap = ''
	}

	return {
		flow(text) {
			const collapsed = collapse(text)
			const words = collapsed.trim()
			if (words === '') {
				if (collapsed !== '') gap ||= ' '
				return
			}
			if (collapsed.startsWith(' ')) gap ||= ' '
			write(words)
			if (collapsed.endsWith(' ')) gap = ' '
		},
		preformatted(text) {
			for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
				if (index > 0) breaks = Math.min(breaks + 1, 2)
				if (line.trim() !== '') write(line.trimEnd())
			}
		},
		breakLines(count) {
			breaks = Math.max(breaks, count)
			gap = ''
		},
		lineBreak() {
			breaks = Math.min(breaks + 1, 2)
			gap = ''
		},
		separate(sign) {
			if (!isEmpty && breaks === 0) gap = sign
		},
		openItem(indent, itemMark) {
			margin = '  '.repeat(Math.max(0, Math.min(indent, maxIndent)))
			mark = itemMark
		},
		quote(depth) {
			quoteMargin = '> '.repeat(Math.min(depth, maxIndent))
		},
		record() {
			recording = []
		},
		recorded() {
			const text = recording?.join('') ?? ''
			recording = null
			return text
		},
		result: () => pieces.join(''),
	}
}

/** White space becomes one space. Characters that preview texts use as fillers are removed. */
function collapse(text: string) {
	if (/^[ -~]*$/.test(text) && !text.includes('  ')) return text
	return text
		.replaceAll(fillers, '')
		.replaceAll(whiteSpace, ' ')
		.replaceAll(looseJoiners, '')
		.replaceAll(/ {2,}/g, ' ')
}

// Soft hyphen, grapheme joiner, zero width space, byte order mark.
const fillers = /\u00ad|\u034f|\u200b|\ufeff/g
// oxlint-disable-next-line no-control-regex
const whiteSpace = /[\s\u0000-\u001f\u007f]+/g
// Within a word they have a meaning (emoji, Persian); before a space they are fillers.
const looseJoiners = /(?<![\u200c-\u200f])[\u200c-\u200f]+(?= |$)/g
