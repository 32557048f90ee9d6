import { ensureSyntaxTree } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { classHighlighter, highlightTree } from '@lezer/highlight'
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

const some = ({ one }: Random, count: number) => Array.from({ length: count }, () => one(pieces))

const written = (doc: string) => EditorState.create({ doc, extensions: liquidInHtml({}) })

/** The coloured parts of a text, each with the kind of its colour. */
function colours(state: EditorState) {
	const tree = ensureSyntaxTree(state, state.doc.length, 10_000)!
	const parts: string[] = []
	highlightTree(tree, classHighlighter, (from, to, kind) =>
		parts.push(`${from}: ${state.sliceDoc(from, to)}, ${kind}`),
	)
	return parts
}

const change = (state: EditorState, from: number, to: number, insert: string) =>
	state.update({ changes: { from, to, insert } }).state

test('a text that was changed has the colours of one that is opened like that', (t) => {
	const random = randomFrom(7)
	for (let round = 0; round < 10; round++) {
		let parts = some(random, 300)
		let state = written(parts.join(''))
		t.true(colours(state).length > 500)
		for (let turn = 0; turn < 12; turn++) {
			const [at, gone] = [random.below(parts.length), random.below(4)]
			const added = some(random, random.below(4))
			const from = parts.slice(0, at).join('').length
			const to = from + parts.slice(at, at + gone).join('').length
			parts = parts.toSpliced(at, gone, ...added)
			state = change(state, from, to, added.join(''))
			t.deepEqual(colours(state), colours(written(parts.join(''))))
		}
	}
})

test('a change that makes text of the tags after it changes their colours', (t) => {
	// In such rows a tag that counts as HTML has the colour of an attribute.
	let state = written('<p {{ name }}>1</p>\n'.repeat(1000))
	for (const [place, insert] of [
		[0, '{% raw %}'],
		[10_000, '{% endraw %}'],
		[0, '{{ name }}'],
	] as const) {
		colours(state)
		state = change(state, place, place, insert)
		t.deepEqual(colours(state), colours(written(state.doc.toString())))
	}
	const uses = colours(state).filter((part) => part.endsWith('name, tok-variableName'))
	t.is(uses.length, 501)
})

test('HTML around and within Liquid has its colours, and so has Liquid', (t) => {
	const found = colours(
		written(
			'<a href="{{ url }}/x">{% if paid %}<b>Thanks</b>{% endif %}</a>{% raw %}<i>{% endraw %}',
		),
	).map((part) => part.replace(/^\d+: /, ''))
	t.is(found.filter((part) => part === 'a, tok-typeName').length, 2)
	t.is(found.filter((part) => part === 'b, tok-typeName').length, 2)
	t.is(found.filter((part) => part === 'i, tok-typeName').length, 1)
	t.true(found.includes('url, tok-variableName'))
	t.true(found.includes('if, tok-keyword'))
	t.true(found.includes('/x", tok-string'))
})
