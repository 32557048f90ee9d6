import { readdir, readFile } from 'node:fs/promises'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
import test from 'ava'
import * as workflows from '../workflows/index.ts'
import { quiet, workflowBundle } from './helpers/workflow.ts'

const folder = new URL('histories/', import.meta.url)
const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))

for (const [how, kind] of [
	['', 'plain'],
	[', with or without traces', 'traced'],
] as const)
	test(`every recorded run continues under today’s code${how}`, async (t) => {
		quiet()
		const histories = await Promise.all(
			names.map(async (name) => ({
				workflowId: name,
				history: historyFromJSON(JSON.parse(await readFile(new URL(name, folder), 'utf8'))),
			})),
		)
		const replayed: string[] = []
		for await (const { workflowId, error } of Worker.runReplayHistories(
			{ workflowBundle: await workflowBundle(kind) },
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
