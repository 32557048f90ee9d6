import { classHighlighter, highlightTree } from '@lezer/highlight'
import { type PartialParse, type Tree, TreeFragment } from '@lezer/common'
import test from 'ava'
import { liquidInHtml } from '../console/editor/liquid-in-html.ts'
import { type Random, randomFrom } from './helpers/random.ts'

/** Each is whole: where HTML is not, CodeMirror itself colours a changed text and a new one differently. */
const pieces = [
	'<p>Hello</p>',
	'<table><tr><td style="color: {{ shade }}; top: 0">1</td></tr></table>',
	'<style>a { color: {{ shade }} }</style>',
	'<!-- {{ name }} -->',
	'<a {% if paid %}class="paid"{% endif %} href="{{ url }}/x">{{ name | upcase }}</a>',
	'{{ name }}',
	'{% if plan == "pro" %}<b>pro</b>{% endif %}',
	'{% raw %}<i>{{ name }}</i>{% endraw %}',
	'{% comment %}<i>{{ name }}</i>{% endcomment %}',
	'&amp; ',
	'Hello ',
	'\n',
]

const { parser } = liquidInHtml({}).language

const some = ({ one }: Random, count: number) => Array.from({ length: count }, () => one(pieces))

/** The coloured parts of a text, each with the kind of its colour. */
function coloursOf(text: string, tree = parser.parse(text)) {
	const parts: string[] = []
	highlightTree(tree, classHighlighter, (from, to, kind) =>
		parts.push(`${from}: ${text.slice(from, to)}, ${kind}`),
	)
	return parts
}

/** Reads a text, and after each change only what the change has touched, as an editor does. */
function editorOf(text: string) {
	let known = TreeFragment.addTree(parser.parse(text))
	return {
		change(from: number, to: number, insert: string) {
			text = text.slice(0, from) + insert + text.slice(to)
			const change = { fromA: from, toA: to, fromB: from, toB: from + insert.length }
			known = TreeFragment.applyChanges(known, [change])
			const tree = parser.parse(text, known)
			known = TreeFragment.addTree(tree, known)
			return { text, colours: coloursOf(text, tree) }
		},
	}
}

test('a text that was changed has the colours of one that is opened like that', (t) => {
	const random = randomFrom(7)
	for (let round = 0; round < 10; round++) {
		let parts = some(random, 300)
		const editor = editorOf(parts.join(''))
		for (let turn = 0; turn < 12; turn++) {
			const [at, gone] = [random.below(parts.length), random.below(4)]
			const added = some(random, random.below(4))
			const from = parts.slice(0, at).join('').length
			const to = from + parts.slice(at, at + gone).join('').length
			parts = parts.toSpliced(at, gone, ...added)
			const { text, colours } = editor.change(from, to, added.join(''))
			t.is(text, parts.join(''))
			t.true(colours.length > 500)
			t.deepEqual(colours, coloursOf(text))
		}
	}
})

test('a change that makes text of the tags after it changes their colours', (t) => {
	// In such rows a tag that counts as HTML has the colour of an attribute.
	const editor = editorOf('<p {{ name }}>1</p>\n'.repeat(1000))
	const uses = [
		[0, '{% raw %}'],
		[10_000, '{% endraw %}'],
		[0, '{{ name }}'],
	].map(([place, insert]) => {
		const { text, colours } = editor.change(place as number, place as number, insert as string)
		t.deepEqual(colours, coloursOf(text))
		return colours.filter((part) => part.endsWith('name, tok-variableName')).length
	})
	t.deepEqual(uses, [0, 500, 501])
})

test('a text whose reading was stopped anywhere has its colours once it is read to its end', (t) => {
	const row = '<p style="top: {{ top }}px; color: {{ shade }}">{{ name }}</p>\n'
	const whole = `{% comment %}${'Rows. '.repeat(100)}{% endcomment %}${row.repeat(100)}`
	const longer = row + whole
	const change = { fromA: 0, toA: 0, fromB: 0, toB: row.length }
	const colours = [coloursOf(whole), coloursOf(longer)]
	const steps = stepsOf(parser.startParse(whole))
	for (let step = 50; step < steps; step += 50) {
		const parse = parser.startParse(whole)
		for (let done = 0; done < step; done++) parse.advance()
		parse.stopAt(parse.parsedPos)
		const known = TreeFragment.addTree(ended(parse), [], true)
		const later = TreeFragment.applyChanges(known, [change])
		const found = [parser.parse(whole, known), parser.parse(longer, later)]
		t.deepEqual([coloursOf(whole, found[0]), coloursOf(longer, found[1])], colours)
	}
})

function stepsOf(parse: PartialParse) {
	let steps = 1
	while (!parse.advance()) steps++
	return steps
}

function ended(parse: PartialParse) {
	let tree: Tree | null = null
	while (!tree) tree = parse.advance()
	return tree
}

test('HTML around and within Liquid has its colours, and so has Liquid', (t) => {
	const found = coloursOf(
		'<a href="{{ url }}/x">{% if paid %}<b>Thanks</b>{% endif %}</a>{% raw %}<i>{% endraw %}',
	).map((part) => part.replace(/^\d+: /, ''))
	t.is(found.filter((part) => part === 'a, tok-typeName').length, 2)
	t.is(found.filter((part) => part === 'b, tok-typeName').length, 2)
	t.is(found.filter((part) => part === 'i, tok-typeName').length, 1)
	t.true(found.includes('url, tok-variableName'))
	t.true(found.includes('if, tok-keyword'))
	t.true(found.includes('/x", tok-string'))
})
