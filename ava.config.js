import { basename } from 'node:path'

// These take longest, so they begin first: none of them runs alone at the end.
const longest = [
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
const areDrills = process.argv.some((arg) => arg.includes('.drill'))

/** As in the API's process. */
const heap = ['--max-semi-space-size=8']

const turn = (file) => {
	const found = longest.indexOf(basename(file, '.test.ts'))
	return found < 0 ? longest.length : found
}

export default {
	extensions: ['ts'],
	files: ['test/**/*.test.ts', ...(areDrills ? ['test/**/*.drill.ts'] : [])],
	nodeArguments: [
		'--import=./test/compiled.mjs',
		'--enable-source-maps',
		// A measurement of stalls begins by collecting the garbage that is left from before.
		'--expose-gc',
		// Once quiet, Node compacts its whole heap. Here that is a test's, and larger than a service's.
		'--no-memory-reducer',
		...(areDrills ? heap : []),
	],
	// Many tests wait for servers and clocks: with a file per core, cores would idle.
	concurrency: 3,
	sortTestFiles: (one, other) => turn(one) - turn(other) || one.localeCompare(other),
	timeout: '3m',
	workerThreads: false,
}
