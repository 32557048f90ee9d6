// Brings node_modules in line with package-lock.json before any npm script runs. Plain JavaScript without
// dependencies, because it runs on the system's Node, before Node 24 is installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
	existsSync,
	mkdirSync,
	readFileSync,
	rmSync,
	statSync,
	statfsSync,
	writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// The dependencies take 1,050 MB, and a Temporal server 230 MB. npm deletes former dependencies first.
const [firstMb, laterMb] = [1500, 500]

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.installed')
const lockText = readFileSync(join(root, 'package-lock.json'))
const fingerprint = createHash('sha256')
	.update(lockText)
	.update(`${process.platform} ${process.arch}`)
	.digest('hex')

if (!isFresh()) {
	const release = await takeTurn()
	try {
		// Another start may have installed everything while this one waited.
		if (!isFresh()) await install()
	} finally {
		release()
	}
}

function isFresh() {
	if (!existsSync(join(modules, '.bin', 'node'))) return false
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return true
	if (!agreesWithLock()) return false
	writeFileSync(stamp, fingerprint)
	return true
}

// After a manual `npm install <package>` everything is in place: npm's own record shows that.
function agreesWithLock() {
	const record = join(modules, '.package-lock.json')
	if (!existsSync(record)) return false
	const installed = JSON.parse(readFileSync(record, 'utf8')).packages
	return Object.entries(lockedPackages()).every(
		([path, wanted]) =>
			installed[path]?.version === wanted.version || (wanted.optional && !installed[path]),
	)
}

function lockedPackages() {
	const { '': _root, ...packages } = JSON.parse(lockText).packages
	return packages
}

async function install() {
	requireSpace()
	rmSync(stamp, { force: true })
	const total = Object.values(lockedPackages()).filter(suitsThisMachine).length
	console.log(
		`Installing dependencies (${total} packages, about 1 GB); this happens only when they change`,
	)
	const began = Date.now()
	const { code, output } = await runNpm(total)
	if (code !== 0) fail(explain(output))
	writeFileSync(stamp, fingerprint)
	console.log(`Dependencies are installed (${Math.round((Date.now() - began) / 1000)} s)`)
}

function suitsThisMachine({ os, cpu }) {
	return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch))
}

function runNpm(total) {
	const [command, prefix] = npm()
	const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=http']
	const child = spawn(command, [...prefix, ...flags], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
	})
	const progress = startProgress(total)
	let output = ''
	const read = (chunk) => {
		output = (output + chunk).slice(-200_000)
		progress.read(String(chunk))
	}
	child.stdout.on('data', read)
	child.stderr.on('data', read)
	return new Promise((done) => {
		child.on('error', (error) => done({ code: 1, output: String(error) }))
		child.on('close', (code) => {
			progress.end()
			done({ code: code ?? 1, output })
		})
	})
}

// The npm that runs us, and its Node. `npm ci` deletes node_modules, so neither may be from there.
function npm() {
	const cli = process.env.npm_execpath
	const node = process.env.npm_node_execpath
	const isForeign = !cli || basename(cli) !== 'npm-cli.js' || !node || node.startsWith(modules)
	return isForeign ? ['npm', []] : [node, [cli]]
}

function startProgress(total) {
	const began = Date.now()
	const seen = new Set()
	let latest = ''
	let printed = ''
	const line = () => {
		const seconds = Math.round((Date.now() - began) / 1000)
		if (seen.size >= total * 0.95) return `  install scripts: Node 24, Postgres 18 (${seconds} s)`
		return `  ${seen.size} of ${total} packages, now ${latest || 'reading the lock file'} (${seconds} s)`
	}
	const print = () => {
		if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line().slice(0, 99)}`)
		else if (line() !== printed) console.log((printed = line()))
	}
	const timer = setInterval(print, process.stdout.isTTY ? 200 : 3000)
	return {
		read(text) {
			for (const [, address] of text.matchAll(
				/http (?:fetch GET|cache)[^\n]*?(https?:\S+\.tgz)/g,
			)) {
				seen.add(address)
				latest = basename(address, '.tgz')
			}
		},
		end() {
			clearInterval(timer)
			if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
		},
	}
}

function requireSpace() {
	const { bavail, bsize } = statfsSync(root)
	const free = Math.floor((bavail * bsize) / 1e6)
	const neededMb = existsSync(modules) ? laterMb : firstMb
	if (free < neededMb)
		fail(`Not enough disk: ${root} has ${free} MB free, dependencies need ${neededMb} MB.`)
}

function explain(output) {
	const lines = output.split('\n').filter((line) => /npm (error|ERR!)/.test(line))
	const reason = lines.slice(0, 12).join('\n') || output.trim().split('\n').slice(-8).join('\n')
	return `Dependencies could not be installed (npm ci):\n${reason}\n${advice(output)}`
}

function advice(output) {
	if (/ENOSPC/.test(output)) return 'The disk is full.'
	if (/EACCES|EPERM/.test(output)) return `This user may not write to ${modules}.`
	if (/ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|EAI_AGAIN|network/.test(output))
		return 'The package registry could not be reached. Check the connection or proxy, then repeat.'
	return 'Repeat the command; if it fails again, remove node_modules first.'
}

// Two scripts started at once must not install into the same folder, so the second waits.
async function takeTurn() {
	const turn = join(root, '.cache', 'installing')
	try {
		mkdirSync(dirname(turn), { recursive: true })
	} catch (error) {
		fail(`Cannot write to ${root} (${error.code}): run as the user who owns it.`)
	}
	for (let announced = false; ; announced = true) {
		try {
			writeFileSync(turn, String(process.pid), { flag: 'wx' })
			return () => rmSync(turn, { force: true })
		} catch (error) {
			if (error.code !== 'EEXIST') throw error
		}
		if (isAbandoned(turn)) rmSync(turn, { force: true })
		else if (!announced) console.log('Waiting for another installation in this folder')
		await new Promise((wake) => setTimeout(wake, 300))
	}
}

function isAbandoned(turn) {
	try {
		const pid = Number(readFileSync(turn, 'utf8'))
		if (!pid) return Date.now() - statSync(turn).mtimeMs > 2000
		return spawnSync('kill', ['-0', String(pid)]).status !== 0
	} catch {
		return false // it was just released
	}
}

function fail(message) {
	console.error(`\n${message}`)
	process.exit(1)
}
