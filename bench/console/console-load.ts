import { performance } from 'node:perf_hooks'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildFolder } from '../../build/freshness.ts'
import { median } from '../load.ts'
import type { Row } from '../table.ts'
import { addressOf, openPage, type Visit } from './console-person.ts'

const rounds = 5
const mostKb = 200
const mostMs = 1000

/** The start page in a browser without anything of ours in its cache. */
export async function coldLoads(visit: Visit): Promise<Row[]> {
	const took: number[] = []
	const assets = new Set<string>()
	for (let round = 0; round < rounds; round++) {
		const { page, close } = await openPage(visit)
		page.on('request', (request) => {
			const asset = /\/console\/(assets\/.+)$/.exec(request.url())?.[1]
			if (asset) assets.add(asset)
		})
		const startedAt = performance.now()
		await page.goto(addressOf(visit.stack, ''))
		await page.getByRole('heading', { level: 1, name: 'Bench' }).waitFor()
		const loading = page.getByRole('status', { name: 'Loading' })
		while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' })
		took.push(performance.now() - startedAt)
		await close()
	}
	const kb = [...assets].reduce((sum, asset) => sum + gzippedKb(asset), 0)
	return [
		{
			what: `cold load of the start page with its data, median of ${rounds}`,
			reached: `${median(took).toFixed(0)} ms`,
			target: `<= ${mostMs} ms`,
			floor: '',
			isMet: median(took) <= mostMs,
		},
		{
			what: `its ${assets.size} files, gzipped`,
			reached: `${kb.toFixed(0)} KB`,
			target: `<= ${mostKb} KB`,
			floor: '',
			isMet: kb <= mostKb,
		},
	]
}

const gzippedKb = (asset: string) =>
	readFileSync(join(buildFolder(), 'console', `${asset}.gz`)).length / 1000
