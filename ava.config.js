import { basename } from 'node:path'

// These take longest, so they begin first: none of them runs alone at the end.
const longest = [
	'campaign-delivery-slow',
	'executions-routes',
	'contact-fields',
	'liquid-limits',
	'campaign-rendering',
	'campaign-workflow',
	'client',
	'fuzz',
	'conditions',
	'docs',
	'mailbox-browser',
	'large-sends',
]

/** Files that take minutes, or measure how long others wait. They run when named, and by .ci/run. */
const drills = process.argv.some((arg) => arg.includes('.drill')) ? ['test/**/*.drill.ts'] : []

const turn = (file) => {
	const found = longest.indexOf(basename(file, '.test.ts'))
	return found < 0 ? longest.length : found
}

export default {
	extensions: ['ts'],
	files: ['test/**/*.test.ts', ...drills],
	nodeArguments: ['--import=./test/compiled.mjs', '--enable-source-maps'],
	// Many tests wait for servers and clocks: with a file per core, cores would idle.
	concurrency: 3,
	sortTestFiles: (one, other) => turn(one) - turn(other) || one.localeCompare(other),
	timeout: '3m',
	workerThreads: false,
}
