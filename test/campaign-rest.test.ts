import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { createCampaignSlots } from '../activities/campaigns/campaign-slots.ts'

function beBusy(ms: number) {
	for (const end = performance.now() + ms; performance.now() < end;);
}

/** Whether slots are granted at once. */
async function isGranted(slots: ReturnType<typeof createCampaignSlots>) {
	const granted = slots.enter('project', 5)
	const first = await Promise.race([granted, setImmediate('rest' as const)])
	slots.giveBack('project', await granted)
	return first !== 'rest'
}

test.serial('while single mails pass a busy worker, its campaigns rest now and then', async (t) => {
	let passes = false
	const slots = createCampaignSlots(5, () => passes)
	beBusy(50)
	t.true(await isGranted(slots), 'no single mail passes')
	passes = true
	beBusy(50)
	t.false(await isGranted(slots))
})

test.serial('campaigns of a worker that waits for its provider need no rest', async (t) => {
	const slots = createCampaignSlots(5, () => true)
	await sleep(500)
	t.true(await isGranted(slots))
	beBusy(5)
	await sleep(100)
	t.true(await isGranted(slots))
})
