import test from 'ava'
import { readJson } from '../api/requests/json-scan.ts'
import { randomFrom } from './helpers/random.ts'

// Large JSON is parsed in parts. The result must equal that of JSON.parse.

function read(text: string) {
	const reading = readJson(Buffer.from(text))
	for (;;) {
		const step = reading.next()
		if (step.done) return step.value.value
	}
}

/** `undefined` if it is invalid. Serialised, because the order of members also counts. */
function outcome(parse: () => unknown) {
	try {
		return JSON.stringify(parse())
	} catch (error) {
		if (error instanceof SyntaxError) return undefined
		throw error
	}
}

const long = '"'.padEnd(40_000, 'x') + '"'

test('broken JSON is broken, wherever its parts meet', (t) => {
	const texts = [
		`[${long},${long},]`,
		`[${long},,${long}]`,
		`[${long},${long}}`,
		`{"a":${long},"b":${long},}`,
		`{"a":[${long},2],}`,
		`[[${long},${long}],]`,
		`[[${long},${long}]1]`,
		`[1 [${long},${long}]]`,
		`{[${long},${long}]}`,
		`{"a" [${long},${long}]}`,
		`{"a":1,[${long},${long}]:2}`,
		`{"a":"b":[${long}]}`,
		`["a":[${long}]]`,
		`x[${long},${long}]`,
		`[${long},${long}]x`,
		`[${long}][${long}]`,
		`[${long},${long}`,
	]
	for (const text of texts) {
		t.is(
			outcome(() => JSON.parse(text)),
			undefined,
		)
		t.is(
			outcome(() => read(text)),
			undefined,
			text.replaceAll(long, '…'),
		)
	}
})

test('the last of several members with the same name counts, in any part', (t) => {
	const texts = [
		`{"a":${long},"a":[${long},1],"a":2}`,
		`{"a":[${long},2],"b":${long},"a":[${long},3]}`,
		`{"2":[${long}],"1":[${long}],"":[${long}],"":{"":${long}}}`,
	]
	for (const text of texts)
		t.is(
			outcome(() => read(text)),
			outcome(() => JSON.parse(text)),
		)
})

test('a mark of UTF-8 and spaces around the body are no part of it', (t) => {
	t.deepEqual(read(`\uFEFF\n [${long}, 1] \r\n`), JSON.parse(`[${long},1]`))
	t.is(read('\uFEFF \n'), undefined)
})

test('any JSON, whole or with a character too many, too few or changed, is read as JSON.parse does', (t) => {
	const { below, one } = randomFrom(20_261_122)
	const name = () => `${one(['k', 'é', '"', '\\', '', '1', 'toString'])}${below(3)}`
	function value(depth: number): unknown {
		if (depth === 0 || below(6) === 0)
			return one(['é'.repeat(below(2000)), below(1e9), null, true, 'a"b\\', ''])
		const values = Array.from({ length: below(8) }, () => value(depth - 1))
		return below(2) ? values : Object.fromEntries(values.map((inner) => [name(), inner]))
	}
	const many = (count: number) => Array.from({ length: below(count) }, () => value(3))
	for (let times = 0; times < 150; times++) {
		const whole = below(2)
			? { a: many(80), b: { c: many(80), 2: 1, 1: many(40) }, z: 1 }
			: [many(90), 1, { x: many(60) }, []]
		let text = JSON.stringify(whole, null, below(2))
		if (times % 3 === 0) {
			const at = below(text.length)
			const kept = at + below(2)
			text = text.slice(0, at) + one([',', ']', '}', '[', '{', ':', '"', '']) + text.slice(kept)
		}
		t.is(
			outcome(() => read(text)),
			outcome(() => JSON.parse(text)),
			`${times}`,
		)
	}
})
