/** Values by a sample's name and ordered labels, as one text. */
export type Samples = Map<string, number>

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"`
const sample = new RegExp(`^(${name})(?:\\{(${label}(?:,${label})*)?,?\\})? (\\S+)$`)
const declaration = new RegExp(`^# (HELP|TYPE) (${name}) (.+)$`)
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped']
/** As Go parses numbers, where Nan is NaN: prom-client writes it so. */
const number = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?Inf|NaN)$/i

/** Parses the text format 0.0.4, and throws wherever a Prometheus server would refuse. */
export function parsePrometheus(text: string): Samples {
	if (!text.endsWith('\n')) throw new Error('the last line does not end')
	const typeOf = new Map<string, string>()
	const helped = new Set<string>()
	const closed = new Set<string>()
	const samples: Samples = new Map()
	let family = ''
	for (const line of text.slice(0, -1).split('\n')) {
		if (line === '') continue
		const declared = declaration.exec(line)
		if (declared) {
			const [, what, about, value] = declared as unknown as [string, string, string, string]
			if (about !== family) closed.add(family)
			family = about
			if (closed.has(family)) throw new Error(`${family} is in two places`)
			if (what === 'HELP' ? helped.has(family) : typeOf.has(family))
				throw new Error(`a second time: ${line}`)
			if (what === 'HELP') helped.add(family)
			else if (!types.includes(value)) throw new Error(`no type: ${line}`)
			else typeOf.set(family, value)
			continue
		}
		const found = sample.exec(line)
		if (!found) throw new Error(`neither a sample nor a declaration: ${line}`)
		const [, whose, labels, value] = found as unknown as [
			string,
			string,
			string | undefined,
			string,
		]
		if (!number.test(value)) throw new Error(`no number: ${line}`)
		const type = typeOf.get(family)
		if (!type) throw new Error(`of no declared type: ${line}`)
		const suffixes =
			type === 'histogram'
				? ['_bucket', '_sum', '_count']
				: type === 'summary'
					? ['', '_sum', '_count']
					: ['']
		if (!suffixes.some((suffix) => whose === family + suffix))
			throw new Error(`it stands among those of ${family}: ${line}`)
		const key = labels === undefined ? whose : `${whose}{${labels}}`
		if (samples.has(key)) throw new Error(`a second time: ${line}`)
		samples.set(key, value === '+Inf' ? Infinity : Number(value))
	}
	for (const [about, type] of typeOf) if (type === 'histogram') checkBuckets(about, samples)
	return samples
}

/** Buckets increase, and the last one holds all. */
function checkBuckets(about: string, samples: Samples) {
	const series = new Map<string, number[]>()
	for (const [key, value] of samples) {
		if (!key.startsWith(`${about}_bucket{`)) continue
		const rest = key
			.slice(about.length + '_bucket'.length)
			.replace(/,?le="[^"]*"/, '')
			.replace('{,', '{')
		series.set(rest === '{}' ? '' : rest, [...(series.get(rest === '{}' ? '' : rest) ?? []), value])
	}
	for (const [labels, counts] of series) {
		const count = samples.get(`${about}_count${labels}`)
		if (counts.at(-1) !== count || counts.some((value, index) => value < (counts[index - 1] ?? 0)))
			throw new Error(`the buckets of ${about}${labels} do not add up`)
	}
}

/** The sum of the samples whose name and labels match. */
export const sumOf = (samples: Samples, pattern: RegExp) =>
	[...samples].reduce((sum, [key, value]) => sum + (pattern.test(key) ? value : 0), 0)
