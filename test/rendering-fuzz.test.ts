import { randomInt } from 'node:crypto'
import test from 'ava'
import { compile, render, type Template, TemplateError } from '../mail/liquid/liquid.ts'
import { cpuMeter } from './helpers/cpu.ts'
import { hostileTexts, hostileValue, pick, type Random, numbersFrom } from './helpers/hostile.ts'

const rounds = 1500
const expressions = [
	'name',
	'data.x',
	'list[0]',
	'list.first',
	'name ?? "x"',
	'name.constructor',
	'name.__proto__.x',
	'constructor.constructor',
	'__proto__',
	'toString',
	'data.hasOwnProperty',
	'list.length',
	'list.map',
	'"<b>"',
	'1..3',
	'-0.5',
	'nothing.at.all',
	'{',
	'"unclosed',
	'a.b.c[d[e]]',
]
const filters = [
	'upcase',
	'escape',
	'append: "<i>"',
	'replace: "a", "<a>"',
	'split: ""',
	'join: ","',
	'date: "%Y"',
	'date: "%9999999Y"',
	'times: 1e300',
	'divided_by: 0',
	'slice: -5, 99999999',
	'truncate: -1',
	'map: "constructor"',
	'where: "x", "y"',
	'sort: "__proto__"',
	'default: ""',
	'json',
	'inspect',
	'no_such_filter',
	'strip_html',
	'url_decode',
	'group_by: "x"',
]
const tags = [
	'if name',
	'elsif data.x == "y"',
	'else',
	'endif',
	'unless list contains "a"',
	'endunless',
	'for i in list limit: 2',
	'for i in (1..99999999)',
	'break',
	'endfor',
	'case name',
	'when "a", "b"',
	'endcase',
	'assign name = list',
	'assign __proto__ = 1',
	'capture x',
	'endcapture',
	'comment',
	'endcomment',
	'raw',
	'endraw',
	'cycle "a", "b"',
	'increment n',
	'include "x"',
	'render "x"',
	'layout "x"',
	'tablerow i in list',
	'liquid\necho name',
	'if',
	'',
]

function source(next: Random): string {
	return Array.from({ length: 1 + next(8) }, () =>
		pick(next, [
			() => pick(next, hostileTexts),
			() => `<a href="{{ ${pick(next, expressions)} }}">`,
			() => `{{ ${pick(next, expressions)} | ${pick(next, filters)} | ${pick(next, filters)} }}`,
			() => `{%${next(4) === 0 ? '-' : ''} ${pick(next, tags)} %}`,
			() => `{% if ${pick(next, expressions)} %}${next(3) === 0 ? source(next) : 'x'}{% endif %}`,
			() => `{% for i in ${pick(next, expressions)} %}{{ i }}{% endfor %}`,
		])(),
	).join('')
}

test('any template is refused with its place or rendered in bounds, and nothing but its data can be reached', (t) => {
	const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
	t.log(`FUZZ_SEED=${seed}`)
	const next = numbersFrom(seed)
	let [read, refused] = [0, 0]
	for (let round = 0; round < rounds; round++) {
		const text = source(next)
		const kind = pick(next, ['body', 'subject'] as const)
		const variables = {
			name: hostileValue(next),
			data: { x: hostileValue(next) },
			list: [hostileValue(next), '<script>'],
		}
		const spentMs = cpuMeter()
		let template: Template
		try {
			template = compile(text, kind)
		} catch (error) {
			if (!(error instanceof TemplateError)) t.fail(`${text}\n${(error as Error).stack}`)
			const { line, column } = error as TemplateError
			t.true(line > 0 && column > 0, text)
			refused++
			continue
		}
		read++
		const rendered = render(template, variables)
		t.is(typeof rendered.text, 'string')
		t.true(spentMs() < 3000, text)
		t.true(rendered.text.length <= 10 * 2 ** 20, text)
		t.false(rendered.text.includes('[native code]'), text)
		if (kind === 'subject') t.notRegex(rendered.text, /[\r\n]/, text)
		t.is(render(template, variables).text, rendered.text, 'the same once more')
	}
	t.true(read > rounds / 5 && refused > rounds / 20, `${read} read, ${refused} refused`)
	t.is(Object.keys(Object.prototype).length, 0)
})

test('no value of a contact becomes markup in a body', (t) => {
	const next = numbersFrom(1)
	for (let round = 0; round < 500; round++) {
		const value = `${pick(next, hostileTexts)}<script>"'&${pick(next, hostileTexts)}`
		const filter = pick(next, ['', '| upcase', '| append: "x"', '| default: "x"', '?? "x"'])
		const { text } = render(compile(`{{ name ${filter} }}`, 'body'), { name: value })
		t.notRegex(text, /<|"/, value)
	}
})
