import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { bundleWorkflowCode, Worker } from '@temporalio/worker'
import test from 'ava'
import * as workflows from '../workflows/index.ts'
import { quiet, workflowsPath } from './helpers/workflow.ts'

const tracing = fileURLToPath(new URL('../workflows/trace-headers.ts', import.meta.url))
const folder = new URL('histories/', import.meta.url)
const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))

for (const [how, workflowInterceptorModules] of [
	['', []],
	[', with or without traces', [tracing]],
] as const)
	test(`every recorded run goes on under the code of today${how}`, async (t) => {
		quiet()
		const { code } = await bundleWorkflowCode({
			workflowsPath,
			workflowInterceptorModules: [...workflowInterceptorModules],
			logger: silent,
		})
		const histories = await Promise.all(
			names.map(async (name) => ({
				workflowId: name,
				history: historyFromJSON(JSON.parse(await readFile(new URL(name, folder), 'utf8'))),
			})),
		)
		const replayed: string[] = []
		for await (const { workflowId, error } of Worker.runReplayHistories(
			{ workflowBundle: { code } },
			histories,
		)) {
			t.is(error, undefined, `${workflowId}: ${String(error)}`)
			replayed.push(workflowId)
		}
		t.is(replayed.length, names.length)
	})

test('every type of workflow has a recorded run', (t) => {
	const types = Object.keys(workflows)
	t.true(types.length > 0)
	for (const type of types)
		t.true(
			names.some((name) => name.startsWith(`${type}-`)),
			type,
		)
})

const silent = {
	log() {},
	trace() {},
	debug() {},
	info() {},
	warn() {},
	error() {},
}
