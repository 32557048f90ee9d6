import { html } from '@codemirror/lang-html'
import { liquid, liquidLanguage } from '@codemirror/lang-liquid'
import { LanguageSupport } from '@codemirror/language'
import {
	type Input,
	MountedTree,
	NodeProp,
	type ParseWrapper,
	type PartialParse,
	Tree,
	TreeFragment,
} from '@lezer/common'

/** Part of a text. */
interface Span {
	from: number
	to: number
}

const base = html()
const textNodes = new Set(['Text', 'RawText'])
const closedNodes = new Set([...textNodes, 'Interpolation', 'Tag', 'EndTag', 'CommentText'])

/** How far HTML was read, if not to its end. Styles after that place have no colours yet. */
const readTo = new WeakMap<Tree, number>()

/**
 * Reads a text as Liquid, and what stands between its tags as HTML.
 *
 * CodeMirror's own combination compares each stretch of HTML with every other after a change. With thousands of tags,
 * that took 80 ms of a key press, in which no frame was drawn. Here the HTML is one stretch, with blanks for the tags.
 */
const readHtml: ParseWrapper = (liquidParse, input, fragments): PartialParse => {
	let current = liquidParse
	let top: Tree | null = null
	let spans: Span[] = []
	let stoppedAt: number | null = null
	return {
		get parsedPos() {
			return top ? current.parsedPos : 0
		},
		get stoppedAt() {
			return stoppedAt
		},
		stopAt(place) {
			stoppedAt = place
			current.stopAt(place)
		},
		advance() {
			const tree = current.advance()
			if (!tree) return null
			if (top) {
				if (stoppedAt !== null) readTo.set(tree, stoppedAt - spans[0]!.from)
				return withHtml(top, tree, spans)
			}
			const read = stoppedAt === null ? tree : withoutEnd(tree)
			spans = htmlIn(read)
			if (spans.length === 0) return read
			top = read
			current = htmlParse(input, fragments, spans)
			if (stoppedAt !== null) current.stopAt(stoppedAt)
			return null
		},
	}
}

/**
 * Reading that stops can leave half a tag at the end. After the next change, CodeMirror would take it for a whole one. So
 * the tree ends before it.
 */
const withoutEnd = ({ type, children, positions, length, propValues }: Tree) =>
	new Tree(type, children, positions, Math.max(0, length - mostLookAhead), propValues)

/** The parser notes where it has looked further ahead than this. */
const mostLookAhead = 25

/** Where a text is HTML. */
function htmlIn(tree: Tree) {
	const spans: Span[] = []
	tree.iterate({
		enter({ name, from, to }) {
			if (textNodes.has(name) && from < to) {
				const last = spans.at(-1)
				if (last?.to === from) last.to = to
				else spans.push({ from, to })
			}
			return !closedNodes.has(name)
		},
	})
	return spans
}

function htmlParse(input: Input, fragments: readonly TreeFragment[], spans: Span[]) {
	const [from, to] = [spans[0]!.from, spans.at(-1)!.to]
	const text = input.read(0, to)
	const blanked = spans.map((span, index) => {
		const end = spans[index - 1]?.to ?? 0
		return ' '.repeat(span.from - end) + text.slice(span.from, span.to)
	})
	const known = fragments.flatMap((fragment) => knownHtml(fragment, spans))
	return base.language.parser.startParse(blanked.join(''), known, [{ from, to }])
}

/** What is known of the HTML in a part of the text that did not change. A change before it can make HTML of tags. */
function knownHtml(fragment: TreeFragment, spans: Span[]) {
	const mounted = fragment.tree.prop(NodeProp.mounted)
	if (!mounted?.overlay) return []
	const old = mounted.overlay.map(({ from, to }) => ({
		from: from - fragment.offset,
		to: to - fragment.offset,
	}))
	const start = old[0]!.from
	const stop = readTo.get(mounted.tree)
	const end = start + Math.min(stop ?? Infinity, mounted.tree.length)
	return sameSpans(old, spans, fragment).flatMap((same) => {
		const [from, to] = [Math.max(same.from, start), Math.min(same.to, end)]
		if (from >= to) return []
		const openStart = same.from > fragment.from || fragment.openStart
		const isStop = stop !== undefined && to === end
		const openEnd = same.to < fragment.to || fragment.openEnd || isStop
		return new TreeFragment(from, to, mounted.tree, -start, openStart, openEnd)
	})
}

/** The parts of a stretch that both lists cover alike. */
function sameSpans(one: Span[], other: Span[], { from, to }: Span) {
	const inside = [...one, ...other]
		.flatMap((span) => [span.from, span.to])
		.filter((edge) => edge > from && edge < to)
	const edges = [from, ...inside.toSorted((a, b) => a - b), to]
	const covers = [coverOf(one), coverOf(other)] as const
	const same: Span[] = []
	for (const [index, end] of edges.entries()) {
		const begin = edges[index - 1]
		if (begin === undefined || begin >= end || covers[0](begin) !== covers[1](begin)) continue
		const last = same.at(-1)
		if (last?.to === begin) last.to = end
		else same.push({ from: begin, to: end })
	}
	return same
}

/** Tells whether spans cover a place. It is asked for places in their order. */
function coverOf(spans: Span[]) {
	let index = 0
	return (place: number) => {
		while (index < spans.length && spans[index]!.to <= place) index++
		return index < spans.length && spans[index]!.from <= place
	}
}

const withHtml = (top: Tree, tree: Tree, spans: Span[]) =>
	new Tree(top.type, top.children, top.positions, top.length, [
		...top.propValues,
		[NodeProp.mounted, new MountedTree(tree, spans, base.language.parser)],
	])

const language = liquidLanguage.configure({ wrap: readHtml })
// It would be the second: the parser's own list begins with CodeMirror's combination.
Object.assign(language.parser, { wrappers: [readHtml] })

/** HTML with Liquid, with what helps to write it. */
export const liquidInHtml = (completion: Parameters<typeof liquid>[0]) =>
	new LanguageSupport(language, liquid({ base, ...completion }).support)
