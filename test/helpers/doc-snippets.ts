import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readPage } from './doc-examples.ts'
import { tsc } from './packed-client.ts'

const run = promisify(execFile)
const patienceMs = 90_000

interface Place {
	/** Where `@tempost/client` is installed. */
	folder: string
	bin: string
	/** The variables that the snippets read. */
	env: Record<string, string>
}

/**
 * Checks and runs the `ts` and `tsx` blocks of a page, as one program in the page's order. A block that begins with a
 * comment like `// welcome.tsx` is that file instead. Returns what the program printed.
 */
export async function runSnippets(page: string, { folder, env }: Place) {
	const blocks = snippetsOf(await readPage(page))
	const files = Map.groupBy(blocks, (block) => /^\/\/ (\S+\.tsx?)\n/.exec(block)?.[1] ?? 'page.tsx')
	for (const [name, texts] of files) await writeFile(join(folder, name), texts.join('\n'))
	const options = {
		extends: '../../tsconfig.json',
		include: ['*.tsx', '*.ts'],
	}
	await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
	await tsc('-p', folder)
	const args = ['--import=tsx', 'page.tsx']
	const settings = { cwd: folder, env: { ...process.env, ...env }, timeout: patienceMs }
	const { stdout } = await run(process.execPath, args, settings)
	return stdout
}

const snippetsOf = (markdown: string) =>
	[...markdown.matchAll(/^```tsx?\n(.*?)^```/gms)].map(([, block]) => block!)

/** Runs each line of `console` blocks that contains our command. Returns their outputs, by line. */
export async function runCommands(page: string, { folder, bin, env }: Place) {
	const markdown = await readPage(page)
	const lines = [...markdown.matchAll(/^```console\n(.*?)^```/gms)]
		.flatMap(([, block]) => block!.split('\n'))
		.filter((line) => /^\$ .*\btempost /.test(line))
		.map((line) => line.slice(2))
	const outputs = new Map<string, string>()
	for (const line of lines) {
		const path = `${bin}:${process.env['PATH']}`
		const { stdout } = await run('sh', ['-ec', line], {
			cwd: folder,
			env: { ...process.env, ...env, PATH: path },
			timeout: patienceMs,
		})
		outputs.set(line, stdout)
	}
	return outputs
}
