import { Token } from 'liquidjs'

let last = { input: '', begin: 0, row: 1, lineBegin: 0 }

/**
 * Row and column of a token. For each variable of an analysis, liquidjs counts from the start of the
 * source: 8 s for a template with 8,000 variables. This continues at the last token: 0.2 s.
 */
Token.prototype.getPosition = function (this: Token) {
	const { input, begin } = this
	const isAhead = last.input === input && last.begin <= begin
	let { row, lineBegin } = isAhead ? last : { row: 1, lineBegin: 0 }
	for (;;) {
		const end = input.indexOf('\n', lineBegin)
		if (end < 0 || end >= begin) break
		row += 1
		lineBegin = end + 1
	}
	last = { input, begin, row, lineBegin }
	return [row, begin - lineBegin + 1]
}
