import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { compile, render } from '../mail/liquid/liquid.ts'
import { renderDeep } from '../mail/liquid/plain.ts'
import { cpuMeter } from './helpers/cpu.ts'

const doubled = (name: string, times: number) =>
	`{% for i in (1..${times}) %}{% assign ${name} = ${name} | append: ${name} %}{% endfor %}`
const nested = (name: string) =>
	`{% assign ${name} = "x" | split: "," %}${`{% assign ${name} = none | push: ${name} | push: ${name} %}`.repeat(40)}`
const chars = (name: string, times: number) => `{% assign ${name} = "a" %}${doubled(name, times)}`

// Each would take minutes at least, or any heap.
const endless = {
	'conditions within conditions':
		'{% assign a = (1..100000) %}{% assign e = "y == 0" %}' +
		`{{ a | has_exp: "x", "a | has_exp: 'y', e" }}`,
	'a long row of conditions': `{% assign a = (1..100000) %}{% if ${'"x" == y or a contains b or a == c or '.repeat(10_000)}d %}{% endif %}`,
	'a long row of cases':
		'{% assign a = (1..399999) | push: 0 %}{% assign b = (1..400000) %}' +
		`{% case a %}{% when ${'b, '.repeat(5000)}0 %}{% endcase %}`,
	'a long row of filters': `${chars('a', 19)}{{ a ${'| url_decode'.repeat(50_000)} }}`,
	'lists that hold themselves twice over, printed': `${nested('a')}{{ a }}{{ a | json }}{{ a | upcase }}`,
	'lists that hold themselves twice over, compared': `${nested('a')}${nested('b')}{% if a == b or a < b %}{% endif %}{% case a %}{% when b %}{% endcase %}`,
	'lists that hold themselves twice over, as a key': `${nested('a')}{{ x[a] }}{{ 1 | plus: a }}{% for i in (1..3) limit: a %}{% endfor %}`,
	'a long path for each item': `{% assign p = "a." %}${doubled('p', 17)}{{ (1..200000) | map: p | size }}`,
	'a long date format': `{% assign f = "%c" %}${doubled('f', 17)}{{ "now" | date: f }}`,
	'a search that almost finds something everywhere': `${chars('a', 19)}${chars('b', 18)}{% assign b = b | append: "b" | append: b %}{{ a | remove_last: b }}{{ a | split: b }}{% if a contains b %}{% endif %}`,
}

for (const [what, source] of Object.entries(endless)) {
	test(`rendering ends with a reason for ${what}`, (t) => {
		for (const kind of ['body', 'subject'] as const) {
			const template = compile(source, kind)
			const spentMs = cpuMeter()
			const { fault } = render(template, {})
			t.true(spentMs() < 10_000)
			t.regex(fault ?? '', /limit exceeded|at most|longer than/)
		}
	})
}

const some = (piece: (index: number) => string, count = 300) =>
	Array.from({ length: count }, (_, index) => piece(index)).join('')

const greedy = [
	'{% assign g = (1..9000000) %}',
	'{% assign g = (1..900000) | group_by_exp: "x", "x" %}',
	`{% assign a = (1..900000) %}${some((i) => `{% assign a${i} = a | slice: 1, "100000" %}`)}`,
	`{% assign a = (1..900000) %}${'{% for i in a reversed %}'.repeat(100)}${'{% endfor %}'.repeat(100)}`,
	`${chars('a', 17)}${some((i) => `{% assign a${i} = a | replace: "a", "<" | escape | url_encode %}`)}`,
	`{% assign a = "<" %}${doubled('a', 18)}${some((i) => `{% capture a${i} %}{{ a }}{% endcapture %}`)}`,
	'{{ (1..900000) }}{{ (1..900000) | raw }}{{ (1..900000) | upcase }}',
]

test('a number that is written with 100,000 digits cuts a text in no time', (t) => {
	const text = 'a'.repeat(99_000)
	const five = `${'0'.repeat(99_999)}5`
	for (const [source, cut] of Object.entries({
		'{{ text | slice: 1, five }}': 'aaaaa',
		'{{ text | slice: nines, five }}': '',
		'{{ text | slice: five, most | size }}': '98995',
		'{{ text | truncate: five }}': 'aa...',
		'{{ text | truncate: most | size }}': '98999',
	})) {
		const template = compile(source, 'body')
		const spentMs = cpuMeter()
		const { text: printed } = render(template, {
			text,
			five,
			nines: '9'.repeat(99_000),
			most: `${'0'.repeat(90_000)}98999`,
		})
		t.is(printed, cut)
		t.true(spentMs() < 1000, source)
	}
})

test('no template takes more memory than a process has', async (t) => {
	const liquid = new URL('../mail/liquid/liquid.ts', import.meta.url).href
	const script = `import { compile, render } from ${JSON.stringify(liquid)}
		for (const source of ${JSON.stringify(greedy)}) {
			const { fault } = render(compile(source, 'body'), {})
			console.log(/limit exceeded|longer than/.test(fault))
		}`
	const options = ['--max-old-space-size=256', '--import=tsx', '--input-type=module']
	const { stdout } = await promisify(execFile)(process.execPath, [...options, '--eval', script])
	t.is(stdout, 'true\n'.repeat(greedy.length))
})

test('all texts of one value have the time of one', (t) => {
	const slow = '{% for i in (1..9999) %}{% for i in (1..9999) %}x{% endfor %}{% endfor %}'
	const spentMs = cpuMeter()
	const rendered = renderDeep({ a: '{{ a }}', all: Array(2000).fill(slow), b: 'b' }, { a: 1 })
	t.true(spentMs() < 10_000)
	t.like(rendered, { a: '1', b: 'b' })
	t.true(JSON.stringify(rendered).length < 21 * 2 ** 20)
})

test('a large newsletter meets no limit', (t) => {
	const products = Array.from({ length: 1000 }, (_, i) => ({
		name: `Product ${i} <new>`,
		price: i * 1.5,
		tags: ['red', `t${i % 7}`],
	}))
	const source = `${'<p>x</p>'.repeat(12_000)}
		{% assign sorted = products | sort: "price" | reverse %}
		{% assign cheap = products | where_exp: "p", "p.price < 600" | sort_natural: "name" %}
		{% assign groups = products | group_by: "price" %}{{ groups | size }} {{ cheap | size }}
		{% assign names = none %}
		{% for p in sorted %}
			{% assign names = names | push: p %}
			{% if p.tags contains "t3" and p.name contains "9" %}<b>{{ p.name | upcase | truncate: 12 }}</b>{% endif %}
			{% capture link %}https://shop.example/{{ p.name | url_encode }}{% endcapture %}
			<a href="{{ link }}">{{ p.name | escape }}</a> {{ p.price | round: 2 }} {{ p.tags | join: ", " }}
		{% endfor %}{{ names | size }}`
	const { text, fault } = render(compile(source, 'body'), { products })
	t.is(fault, null)
	t.true(text.includes('1000 400') && text.trimEnd().endsWith('1000'))
})
