import { randomInt } from 'node:crypto'
import test from 'ava'
import { readRows } from '../activities/imports/import-rows.ts'
import { isFileFault } from '../activities/imports/import-slice.ts'
import { isEmail } from '../db/address.ts'
import { hostileTexts, pick, type Random, numbersFrom } from './helpers/hostile.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
/** The possible content of a cell: no NUL, which Postgres refuses, and no unpaired surrogate. */
const cells = [...hostileTexts, '"', '""', 'a"b', ',', ';', '\t', '\r\n', '\n', "'=1+1"].filter(
	(text) => !text.includes('\0') && text.isWellFormed(),
)
const reserved = ['id', 'email', 'subscribed', '__proto__']

async function rowsOf(file: Buffer) {
	const rows = []
	for await (const some of readRows('p', file)) rows.push(...some)
	return rows
}

test('files of spreadsheets arrive cell by cell', async (t) => {
	t.log(`FUZZ_SEED=${seed}`)
	const next = numbersFrom(seed)
	for (let round = 0; round < 200; round++) {
		const [separator, end] = [pick(next, [',', ';', '\t']), pick(next, ['\n', '\r\n', '\r'])]
		const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
		const people = Array.from({ length: 1 + next(5) }, (_, i) => [
			`p${i}@example.org`,
			pick(next, cells),
			pick(next, cells),
		])
		const lines = [['email', 'one', 'two'], ...people].map((line) =>
			line.map((cell, i) => (i === 0 && next(2) === 0 ? cell : quoted(cell))).join(separator),
		)
		const text = `${next(2) === 0 ? '\uFEFF' : ''}${lines.join(end)}${next(2) === 0 ? end : ''}`
		const read = await rowsOf(Buffer.from(text))
		t.deepEqual(
			read.map((row) => ('data' in row ? [row.email, JSON.parse(row.data)] : row)),
			people.map(([email, one, two]) => {
				const given = { one: one!.trim(), two: two!.trim() }
				return [email, Object.fromEntries(Object.entries(given).filter(([, value]) => value))]
			}),
			text,
		)
	}
})

/** A valid file with bytes removed, inserted and doubled. */
function mangled(next: Random) {
	let file = Buffer.from(
		Array.from({ length: 1 + next(6) }, (_, i) =>
			i === 0
				? `email,subscribed,${pick(next, cells)},id`
				: `p${i}@example.org,${pick(next, cells)},"${pick(next, cells)}",x`,
		).join('\n'),
	)
	for (let times = next(5); times > 0; times--) {
		const at = next(file.length + 1)
		const piece = pick(next, [
			Buffer.from(pick(next, hostileTexts)),
			Buffer.from([next(256)]),
			Buffer.from('😀'.repeat(130)),
			file.subarray(at, at + next(50)),
		])
		file = Buffer.concat([file.subarray(0, at), piece, file.subarray(at + next(3))])
	}
	return file
}

test('a mangled file is refused with a reason, or read into rows that are sound', async (t) => {
	t.log(`FUZZ_SEED=${seed}`)
	const next = numbersFrom(seed)
	let [refused, good] = [0, 0]
	for (let round = 0; round < 1000; round++) {
		const file = mangled(next)
		const text = file.toString('latin1')
		const rows = await rowsOf(file).catch((error: Error) => {
			if (!isFileFault(error)) t.fail(`${text}\n${error.stack}`)
			t.true(error.message.length > 10 && !error.message.includes('\0'), text)
			refused++
			return []
		})
		for (const row of rows) {
			t.true(Number.isInteger(row.row) && row.row >= 2, text)
			if (!('data' in row)) {
				t.true(row.email === null || (row.email.isWellFormed() && !row.email.includes('\0')), text)
				continue
			}
			good++
			t.true(isEmail(row.email), text)
			t.false(row.data.includes(String.raw`\u0000`), text)
			const names = Object.keys(JSON.parse(row.data) as object)
			t.deepEqual(
				names.filter((name) => reserved.includes(name)),
				[],
				text,
			)
		}
	}
	t.true(refused > 50 && good > 50, `${refused} refused, ${good} rows read`)
})
