import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface User {
	uid?: number
	gid?: number
	env: NodeJS.ProcessEnv
}

const checkout = join(import.meta.dirname, '../..')

export const isRoot = process.getuid?.() === 0

// As on a fresh machine: the environment contains nothing of this checkout or of the npm that runs it.
const shellPath = (process.env['PATH'] ?? '')
	.split(':')
	.filter((folder) => !folder.includes('node_modules'))
	.join(':')

export const ourselves: User = {
	env: {
		PATH: shellPath,
		HOME: process.env['HOME'],
		...pick(/^(npm_config_(registry|cache)|pip_|node_extra|ssl_|https?_proxy|no_proxy)/i),
	},
}

function pick(names: RegExp) {
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
}

// A folder that only its owner may enter, as mktemp -d creates it.
export const closedFolder = () => mkdtempSync(join(realpathSync(tmpdir()), 'tempost-trial-'))

export function openFolder() {
	const folder = closedFolder()
	chmodSync(folder, 0o755)
	return folder
}

// A bare clone of the committed state.
export function makeClone(folder: string, user: User = ourselves) {
	// git refuses to read another user's repository, so the owner clones it and passes the clone on.
	const source = join(checkout, '.git')
	execFileSync('git', ['clone', '--quiet', '--no-hardlinks', source, folder], {
		env: ourselves.env,
	})
	if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
	return folder
}

// A clone with everything installed: quick, because it uses hard links to another clone.
export function furnish(folder: string, from: string) {
	for (const name of ['node_modules', '.cache'])
		if (existsSync(join(from, name)))
			execFileSync('cp', ['-al', join(from, name), join(folder, name)])
	return folder
}

// A user without rights, who exists only during the trial.
export function makeUser(): (User & { remove: () => void }) | undefined {
	const name = `tempost${process.pid}`
	const home = join(openFolder(), 'home')
	if (!isRoot || spawnSync('useradd', ['--no-create-home', '--home-dir', home, name]).status !== 0)
		return undefined
	const id = (flag: string) => Number(execFileSync('id', [flag, name]))
	const [uid, gid] = [id('-u'), id('-g')]
	mkdirSync(home)
	execFileSync('chown', [`${uid}:${gid}`, home])
	const env = { ...ourselves.env, HOME: home, USER: name }
	return { uid, gid, env, remove: () => spawnSync('userdel', ['--force', name]) }
}
