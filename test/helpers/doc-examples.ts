import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A block of shell commands in a page, and the answer that the page shows below it. */
interface Example {
	commands: string
	shown: unknown
}

export interface Installation {
	/** The folder of `.data/local.json`. */
	folder: string
	apiUrl: string
	env?: NodeJS.ProcessEnv
}

/** Written out once, for all pages except the first steps. */
const helpersPage = 'docs/getting-started.md'
const selfContained = ['README.md', helpersPage]
const separator = '\u001E'
const patienceMs = 90_000

export const readPage = (page: string) =>
	readFile(new URL(`../../${page}`, import.meta.url), 'utf8')

/** Blocks marked `sh` are run. A deployment's commands are marked `console`. */
export function examplesOf(markdown: string): Example[] {
	const blocks = markdown.matchAll(/^```sh\n(.*?)^```(?:\n\n```json\n(.*?)^```)?/gms)
	return [...blocks].map(([, commands, answer]) => ({
		commands: commands!,
		shown: answer === undefined ? undefined : JSON.parse(answer),
	}))
}

/** Runs the commands of a page in order and compares the answers. Returns the differences. */
export async function runPage(page: string, installation: Installation): Promise<string[]> {
	const examples = examplesOf(await readPage(page))
	const [helpers] = selfContained.includes(page) ? [] : examplesOf(await readPage(helpersPage))
	const script = [helpers?.commands ?? '', ...examples.map(({ commands }) => commands)]
		.join(`printf '\\036'\n`)
		.replaceAll('http://localhost:3000', installation.apiUrl)
	const { folder: cwd, env } = installation
	const { stdout } = await promisify(execFile)('sh', ['-ec', script], {
		cwd,
		timeout: patienceMs,
		...(env && { env }),
	})
	const [, ...outputs] = stdout.split(separator)
	return examples.flatMap((example, i) => problemsOf(example, outputs[i] ?? ''))
}

function problemsOf({ commands, shown }: Example, output: string): string[] {
	const lines = output.split('\n').filter((line) => line !== '')
	const answered = shown === undefined ? lines : lines.slice(0, -1)
	const refused = answered.filter((line) => /^\{"(success":false|error")/.test(line))
	const differences = shown === undefined ? [] : differencesOf(shown, parsed(lines.at(-1)))
	return [...refused, ...differences].map((problem) => `${commands}→ ${problem}`)
}

function parsed(line = ''): unknown {
	try {
		return JSON.parse(line)
	} catch {
		return line
	}
}

/** `…` stands for any value. */
function differencesOf(shown: unknown, real: unknown, path = 'answer'): string[] {
	if (shown === '…') return real === undefined ? [`${path} is missing`] : []
	if (typeof shown !== 'object' || shown === null || typeof real !== 'object' || real === null)
		return shown === real ? [] : [`${path} is ${JSON.stringify(real)}`]
	const keys = new Set([...Object.keys(shown), ...Object.keys(real)])
	return [...keys].flatMap((key) =>
		key in shown
			? differencesOf(
					shown[key as keyof typeof shown],
					real[key as keyof typeof real],
					`${path}.${key}`,
				)
			: [`${path}.${key} is not shown`],
	)
}
