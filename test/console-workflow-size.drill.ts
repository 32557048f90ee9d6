import test from 'ava'
import { setupWorkflows } from './helpers/console-workflows.ts'

const steps = 200
const moves = 150

/** Branches of four steps each, below each other. */
function largeWorkflow() {
	const all = Array.from({ length: steps - 1 }, (_, at) => ({
		type: at % 4 === 0 ? 'WAIT_FOR_EVENT' : 'DELAY',
		name: `Step ${at}`,
		config: at % 4 === 0 ? { eventName: 'order', timeout: 86_400 } : { amount: 1, unit: 'days' },
	}))
	const ways = all.flatMap(({ name }, at) => {
		if (at === 0) return [`Trigger > ${name}`]
		if (at % 4 === 2) return [`Step ${at - 2}: timeout > ${name}`]
		return [`Step ${at - 1}${at % 4 === 1 ? ': event' : ''} > ${name}`]
	})
	return [all, ways] as const
}

test.serial(
	'a picture of 200 steps moves with the hand, and draws only what comes into view',
	async (t) => {
		const { page, open, workflow, faults } = await setupWorkflows(t)
		const { id } = await workflow('Large', ...largeWorkflow())
		await open(`workflows/${id}`)
		const picture = page.getByRole('group', { name: 'Steps of the workflow' })
		await picture.getByRole('button', { name: /^Wait for event Step 0/ }).waitFor()
		const drawn = await picture.getByRole('button', { name: /Step \d+/ }).count()
		t.true(drawn < steps / 2, `${drawn} of ${steps} steps are drawn, although few can be seen`)

		const devtools = await page.context().newCDPSession(page)
		// Of the page's thread, so the machine's other work doesn't count.
		await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
		/** Seconds in which the page's main thread has worked. */
		const busy = async () => {
			const { metrics } = await devtools.send('Performance.getMetrics')
			return metrics.find(({ name }) => name === 'TaskDuration')!.value
		}
		await page.evaluate(`
		frames = []
		draws = 0
		// Drawing a step looks up its summary, a text.
		const { get } = Map.prototype
		Map.prototype.get = function (key) {
			const value = get.call(this, key)
			if (typeof value === 'string' && /^[0-9a-f-]{36}$/.test(key)) draws++
			return value
		}
		let last = performance.now()
		requestAnimationFrame(function note(now) {
			frames.push(now - last)
			last = now
			requestAnimationFrame(note)
		})`)
		const box = (await picture.boundingBox())!
		await page.mouse.move(box.x + 60, box.y + box.height - 150)
		await page.mouse.down()
		await page.evaluate('frames.length = draws = 0')
		const before = await busy()
		for (let move = 1; move <= moves; move++)
			await page.mouse.move(box.x + 60 + move, box.y + box.height - 150 - move * 3)
		const after = await busy()
		const frames = (await page.evaluate<number[]>('frames')).toSorted((one, other) => one - other)
		await page.mouse.up()
		const draws = await page.evaluate<number>('draws')
		const busyMs = ((after - before) * 1000) / frames.length
		const medianMs = frames[frames.length >> 1]!
		t.log({ drawn, frames: frames.length, medianMs, busyMs, draws })
		t.true(frames.length >= moves)
		// Those that came into view.
		t.true(draws < steps, `${draws} times a step was drawn`)
		t.true(medianMs <= 34, `half of the frames take ${medianMs} ms or more`)
		t.true(busyMs <= 10, `a frame keeps the page busy for ${busyMs} ms`)
		t.deepEqual(faults, [])
	},
)
