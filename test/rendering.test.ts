import test from 'ava'
import { TemplateError, compile, render, unsetIn, variablesOf } from '../mail/liquid/liquid.ts'
import { problemsIn } from '../mail/liquid/template-problems.ts'
import { briefly, Overrun } from '../mail/render-limits.ts'
import { cpuMeter } from './helpers/cpu.ts'

const variables = {
	name: 'Ann & Bob',
	zero: 0,
	no: false,
	nothing: null,
	empty: '',
	list: ['a<b', 'c'],
	html: '<b>x</b>',
	'order.total': 5,
	order: { id: 7, items: [{ price: 1 }, { price: 2 }] },
	data: { size: 'L', only: 'in data', 'a.b': 'dotted in data' },
}
const body = (source: string) => render(compile(source, 'body'), variables).text
const subject = (source: string) => render(compile(source, 'subject'), variables).text
const costMs = (work: () => unknown) => {
	const spentMs = cpuMeter()
	work()
	return spentMs()
}

test('an unknown or null variable prints nothing, 0 and false print', (t) => {
	t.is(body('[{{ nope }}{{ nothing }}{{ nope.a.b }}]'), '[]')
	t.is(body('{{ zero }} {{ no }}'), '0 false')
})

test('a fallback replaces unknown and null values only', (t) => {
	t.is(body('{{ nope ?? "you" }}'), 'you')
	t.is(body("{{nope??'you'}}"), 'you')
	t.is(body('{{ nope ?? nothing ?? name }}'), 'Ann &amp; Bob')
	t.is(body('{{ zero ?? 5 }}{{ no ?? 5 }}{{ empty ?? 5 }}'), '0false')
	t.is(body('{{ nope ?? zero }}{{ nope??12 }}'), '012')
	t.is(body('{{ nope??"ann" | upcase }}'), 'ANN')
	t.is(body('{% assign who = nope??"you" %}{{ who }}{% if nope??1 == 1 %}!{% endif %}'), 'you!')
})

test('?? in quotes, in raw blocks and in plain text stays as it is', (t) => {
	t.is(body('{{ "a ?? b" }} {{ nope ?? "what??" }} why??'), 'a ?? b what?? why??')
	t.is(body('{% raw %}{{ a??b }}{% endraw %}'), '{{ a??b }}')
})

test('a name is looked up as a path, then as a key with dots, then in data', (t) => {
	t.is(body('{{ order.id }} {{ order.items[1].price }} {{ order.total }}'), '7 2 5')
	t.is(body('{{ only }}, {{ a.b }}, {{ data.a.b }}'), 'in data, dotted in data, dotted in data')
	const both = { a: { b: 'path' }, 'a.b': 'key', data: { a: { b: 'data' } } }
	t.is(render(compile('{{ a.b }}', 'body'), both).text, 'path')
	t.is(render(compile('{{ a.b }}', 'body'), { ...both, a: {} }).text, 'key')
})

test('size is a field like any other, and counts only lists and text', (t) => {
	t.is(body('{{ size }}{{ data.size }}[{{ order.size }}]{{ list.size }}'), 'LL[]2')
})

test('nothing but own data can be reached', (t) => {
	const paths = ['constructor', '__proto__', 'order.constructor', 'name.constructor', 'list.map']
	t.is(body(paths.map((path) => `{{ ${path} }}`).join('')), '')
})

test('bodies escape HTML unless marked raw, subjects never do', (t) => {
	t.is(body('{{ name }} {{ html }}'), 'Ann &amp; Bob &lt;b&gt;x&lt;/b&gt;')
	t.is(body('{{ html | raw }}'), '<b>x</b>')
	t.is(body('{% echo html %}{% cycle html %}'), '&lt;b&gt;x&lt;/b&gt;'.repeat(2))
	t.is(subject('{{ name }} {{ html }}'), 'Ann & Bob <b>x</b>')
})

test('escaped text is not escaped again', (t) => {
	t.is(body('{{ name | escape }}'), 'Ann &amp; Bob')
	t.is(body('{% capture hi %}<i>{{ name }}</i>{% endcapture %}{{ hi }}'), '<i>Ann &amp; Bob</i>')
	t.is(body('{{ "a<\nb" | newline_to_br }}'), 'a&lt;<br>\nb')
})

test('a list prints as items in a body and with commas in a subject', (t) => {
	t.is(body('{{ list }}'), '<li>a&lt;b</li><li>c</li>')
	t.is(body('{{ list | raw }}'), '<li>a<b</li><li>c</li>')
	t.is(subject('{{ list }}'), 'a<b, c')
})

test('a subject is one line of at most 998 characters', (t) => {
	const rendered = render(compile('Hi {{ x }}', 'subject'), { x: 'a\r\nBcc: b@c.d\n\n c\0d' })
	t.is(rendered.text, 'Hi a Bcc: b@c.d c d')
	const long = render(compile('{{ x }}', 'subject'), { x: `${'a'.repeat(997)}😀😀` })
	t.is(long.text, 'a'.repeat(997))
})

test('if, unless, case, for, assign, comment and filters work', (t) => {
	t.is(body('{% if zero == 0 %}a{% else %}b{% endif %}{% unless no %}c{% endunless %}'), 'ac')
	t.is(body('{% case zero %}{% when 0 %}x{% endcase %}{% comment %}y{% endcomment %}'), 'x')
	t.is(
		body('{% for i in order.items %}{{ forloop.index }}:{{ i.price }} {% endfor %}{{ i }}'),
		'1:1 2:2 ',
	)
	t.is(body('{{ "a,b" | split: "," | join: "+" }}'), 'a+b')
})

const broken = [
	['{{ name', 1, 1],
	['a\n {% if x %}', 2, 2],
	['x\ny {{ a | nope }}', 2, 3],
	['{{ }}', 1, 4],
	['x {% foo %}', 1, 3],
	['{{ first name }}', 1, 1],
	['{{ a??b }} {{ a ?? }}', 1, 12],
	['{% include "package.json" %}', 1, 1],
	['{% render "x" %}', 1, 1],
	[' {% layout "x" %}', 1, 2],
	['{% block x %}{% endblock %}', 1, 1],
] as const

for (const [source, line, column] of broken) {
	test(`${JSON.stringify(source)} is refused with its line and column`, (t) => {
		const error = t.throws(() => compile(source, 'body'), { instanceOf: TemplateError })
		t.is(error.line, line)
		t.is(error.column, column)
		t.false(error.message.includes('line:') || error.message.includes('\u0001'))
		t.deepEqual(problemsIn({ value: source, kind: 'body', field: 'body' }), [
			{
				field: 'body',
				message: `cannot be read: ${error.message} (line ${line}, column ${column})`,
				code: 'template_syntax',
				line,
				column,
			},
		])
	})
}

test('a fault while rendering prints nothing, is reported, and the rest still prints', (t) => {
	const { text, fault } = render(compile('a{{ (1..999999999) }}b\n{{ 1 }}', 'body'), {})
	t.is(text, 'ab\n1')
	t.regex(fault ?? '', /^line 1: memory/)
	t.is(render(compile('fine', 'body'), {}).fault, null)
})

test('a fault within a loop costs one item, not the loop', (t) => {
	const source = '{% for i in list %}{{ i }}{{ (1..999999999) }},{% endfor %}'
	t.is(render(compile(source, 'body'), { list: [1, 2] }).text, '1,2,')
})

test('endless work is cut short', (t) => {
	const source = `${'{% for i in (1..9999) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`
	const ms = costMs(() => t.regex(render(compile(source, 'body'), {}).fault ?? '', /limit/))
	t.true(ms < 2000)
})

test('output stops at 10 MB', (t) => {
	const source = '{% for i in (1..200) %}{{ big }}{% endfor %}'
	const { text, fault } = render(compile(source, 'body'), { big: 'x'.repeat(100_000) })
	t.true(text.length <= 10 * 1024 * 1024)
	t.regex(fault ?? '', /output limit/)
})

test('hostile templates are refused quickly', (t) => {
	const tag = '{% if a %}'
	const sources = [
		tag.repeat(40_000),
		'{{a}}'.repeat(500_000),
		'{{'.repeat(500_000),
		tag.repeat(5000),
	]
	for (const source of sources) {
		const ms = costMs(() => t.throws(() => compile(source, 'body'), { instanceOf: TemplateError }))
		t.true(ms < 3000)
	}
})

test('a comment of many line breaks is read in time', (t) => {
	const source = `{%# a${'\n \r\n'.repeat(200_000)}# b %}c`
	const ms = costMs(() => t.is(body(source), 'c'))
	t.true(ms < 5000)
	t.throws(() => compile('{%# a\n\n b %}', 'body'), { instanceOf: TemplateError })
})

test('one rendering leaves nothing behind for the next', (t) => {
	const source = '{% increment n %}{{ n }}{% assign a = 1 %}{{ b }}'
	const given = { b: 2 }
	t.is(render(compile(source, 'body'), given).text, '012')
	t.is(render(compile(source, 'body'), given).text, '012')
	t.deepEqual(given, { b: 2 })
})

test('the variables of a template are known, and which of them are unset', (t) => {
	const source =
		'{{ name }}{{ nope.x ?? gone }}{% for i in list %}{{ i.a }}{% endfor %}{{ order.total }}'
	const template = compile(source, 'body')
	t.deepEqual(variablesOf(template).sort(), ['gone', 'list', 'name', 'nope.x', 'order.total'])
	t.deepEqual(unsetIn(template, variables).sort(), ['gone', 'nope.x'])
})

test('any number of different templates can be read, and the oldest are forgotten', (t) => {
	const first = compile('first {{ zero }}', 'body')
	for (let i = 0; i < 3000; i++) {
		for (const kind of ['subject', 'body'] as const) compile(`${i} ${'x'.repeat(10_000)}`, kind)
	}
	t.false(first === compile('first {{ zero }}', 'body'))
	t.is(compile('{{ zero }}', 'body'), compile('{{ zero }}', 'body'))
	t.is(compile('{{ zero }}', 'subject').kind, 'subject')
})

test('a cached template of 4 KB with ten variables takes a tenth of a millisecond', (t) => {
	const source = Array.from({ length: 10 }, (_, i) => `<p>${'x'.repeat(380)} {{ v${i} }}</p>`).join(
		'',
	)
	const values = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`v${i}`, `value ${i}`]))
	const run = () => {
		for (let i = 0; i < 1000; i++) render(compile(source, 'body'), values)
	}
	run()
	// Measured at 0.02 ms; the rest is room for a slower machine.
	t.true(Math.min(costMs(run), costMs(run), costMs(run)) / 1000 < 0.1)
})

test('work on the event loop ends where it exceeds its limits: nothing more is made of that text', (t) => {
	const loop = '{% for i in (1..9999) %}'
	const slow = `Hello ${loop}${loop}x{% endfor %}{% endfor %}`
	const large = `{% assign a = 'x' %}{% for i in (1..20) %}{% assign a = a | append: a %}{% endfor %}`
	for (const source of [slow, large]) {
		let made: string | undefined
		const work = () => (made = body(source))
		t.throws(() => briefly(work), { instanceOf: Overrun })
		t.is(made, undefined)
	}
	t.is(body('Hello {{ zero }}'), 'Hello 0')
})
