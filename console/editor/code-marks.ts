import type { Diagnostic } from '@codemirror/lint'
import type { Text } from '@codemirror/state'

/** A place in a text that can't be read. Line and column start at 1. */
export interface SyntaxFault {
	line: number
	column: number
	message: string
}

const mostMarks = 100
const liquid = /\{\{[^]*?\}\}|\{%[^]*?%\}/g

/** Faults of the syntax, and variables that have no value, at their places. */
export function marksIn(doc: Text, faults: SyntaxFault[], unset: string[]): Diagnostic[] {
	const broken = faults.map(({ line, column, message }): Diagnostic => {
		const from = placeOf(doc, line, column)
		const { to } = doc.lineAt(from)
		return { from, to: Math.max(Math.min(from + 2, to), from), severity: 'error', message }
	})
	return [...broken, ...unsetIn(doc.toString(), unset)]
}

export function placeOf(doc: Text, line: number, column: number) {
	const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
	return Math.min(from + column - 1, to)
}

/** Where a variable is used within Liquid. */
export function unsetIn(text: string, unset: string[]): Diagnostic[] {
	if (unset.length === 0) return []
	const names = unset.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
	const uses = new RegExp(String.raw`(?<![\w."'])(?:${names.join('|')})(?![\w"'])`, 'g')
	const marks: Diagnostic[] = []
	for (const { 0: tag, index } of text.matchAll(liquid))
		for (const { 0: name, index: place } of tag.matchAll(uses)) {
			const from = index + place
			const message = `${name} has no value in this preview`
			marks.push({ from, to: from + name.length, severity: 'warning', message })
			if (marks.length === mostMarks) return marks
		}
	return marks
}
