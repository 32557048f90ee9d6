import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ourselves } from './clone.ts'

// What the README tells to type once the service is there, word for word but for the port.
export function typeReadme(folder: string, apiUrl: string) {
	const readme = readFileSync(join(folder, 'README.md'), 'utf8')
	const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!)
	const commands = blocks
		.slice(blocks.findIndex((block) => block.includes('secretKey')))
		.join('\n')
		.replaceAll('http://localhost:3000', apiUrl)
	const said = execFileSync('sh', ['-ec', commands], { cwd: folder, env: ourselves.env })
	const refusal = said
		.toString()
		.split('\n')
		.find((line) => /"success":false|^\{"error"/.test(line))
	if (refusal) throw new Error(`a command of the README was refused: ${refusal}`)
}
