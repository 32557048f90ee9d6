import test from 'ava'
import { withCampaigns } from './helpers/campaigns.ts'
import { setupConsole } from './helpers/console.ts'

/** The page notes its frames and long tasks while somebody types. */
const observer = `(() => {
	const frames = [], tasks = []
	new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
		.observe({ type: 'longtask' })
	const note = (at) => { frames.push(at); requestAnimationFrame(note) }
	requestAnimationFrame(note)
	window.typing = { frames, tasks }
})()`

const line = (n: number) =>
	`<tr><td style="padding:8px 12px">Row ${n}: {{ customer.name }}, {% if plan == "pro" %}pro{% endif %}</td></tr>\n`

/** The fewest frames in any second. */
function fewest(frames: number[]) {
	const end = frames.at(-1)!
	const counts = frames
		.filter((from) => from + 1000 <= end)
		.map((from) => frames.filter((at) => at >= from && at < from + 1000).length)
	return Math.min(...counts)
}

const longest = (frames: number[]) =>
	Math.max(...frames.slice(1).map((at, index) => at - frames[index]!))

test('typing in a template of 100 KB never drops below 30 frames per second', async (t) => {
	t.timeout(180_000)
	const { page, open, request, faults } = await withCampaigns(t, await setupConsole(t))
	const rows = Array.from({ length: 1000 }, (_, n) => line(n)).join('')
	const body = `<table>\n${rows}</table>\n`
	t.true(body.length > 100_000)
	const created = await request('POST', '/templates', {
		name: 'Long',
		subject: 'Long',
		body,
		from: 'hello@example.com',
	})
	await open(`templates/${created.json().id}`)
	const editor = page.getByRole('textbox', { name: 'Body, HTML with Liquid' })
	await page.frameLocator('iframe[title=Mail]').getByText('Row 999').waitFor()
	const measured = async (goTo: string) => {
		await editor.click()
		await editor.press(goTo)
		await page.evaluate(observer)
		// With pauses, in which the preview is rendered anew while typing goes on.
		for (let word = 0; word < 8; word++) {
			await editor.pressSequentially('<p>Hello {{ name }}, ', { delay: 25 })
			await page.waitForResponse(/templates\/preview$/)
		}
		const { frames, tasks } = (await page.evaluate('typing')) as {
			frames: number[]
			tasks: number[]
		}
		return {
			fewest: fewest(frames),
			longestFrameMs: longest(frames),
			longestTaskMs: Math.max(0, ...tasks),
		}
	}
	for (const place of ['Control+Home', 'Control+End']) {
		const figures = await measured(place)
		t.log(place, figures)
		t.true(figures.fewest >= 30, `${figures.fewest} frames in a second, at ${place}`)
		// A longer one is noticed. The collection of garbage alone may take some frames.
		t.true(figures.longestFrameMs < 200, `a frame of ${figures.longestFrameMs} ms, at ${place}`)
	}
	t.deepEqual(faults, [])
})
