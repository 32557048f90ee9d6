// `npm start`: builds changed sources, then becomes the compiled start script.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isFresh } from './freshness.ts'
import { nodeArguments } from './processes.ts'
import { root } from './root.ts'

if (!isFresh()) {
	const began = Date.now()
	// A separate process, so that nothing of esbuild is left when this one becomes another.
	const builder = spawn(process.execPath, [join(root, 'build/main.ts')], { stdio: 'inherit' })
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
		process.once(signal, () => builder.kill(signal))
	const [code] = await once(builder, 'exit')
	if (code !== 0) process.exit(code ?? 1)
	process.stdout.write(
		`Compiled (${((Date.now() - began) / 1000).toFixed(1)} s), once per change\n`,
	)
}
process.execve!(
	process.execPath,
	[process.execPath, ...nodeArguments('local/start.ts')],
	process.env,
)
