import test from 'ava'
import { withCampaigns } from './helpers/campaigns.ts'
import { setupConsole } from './helpers/console.ts'
import { fewestFrames, tasksDuring } from './helpers/page-tasks.ts'

const line = (n: number) =>
	`<tr><td style="padding:8px 12px">Row ${n}: {{ customer.name }}, {% if plan == "pro" %}pro{% endif %}</td></tr>\n`

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
	// With pauses, in which the preview is rendered anew while typing goes on.
	const type = async () => {
		for (let word = 0; word < 8; word++) {
			await editor.pressSequentially('<p>Hello {{ name }}, ', { delay: 25 })
			await page.waitForResponse(/templates\/preview$/)
		}
	}
	for (const place of ['Control+Home', 'Control+End']) {
		await editor.click()
		await editor.press(place)
		const tasks = await tasksDuring(page, type)
		const frames = fewestFrames(tasks)
		const longest = Math.max(...tasks.map(({ cpuMs }) => cpuMs))
		t.log(place, `${frames} frames, the longest task takes ${longest.toFixed(0)} ms`)
		t.true(tasks.length > 500, `${tasks.length} tasks`)
		t.true(frames >= 30, `${frames} frames in a second, at ${place}`)
		// A longer one is noticed.
		t.true(longest < 100, `a task of ${longest} ms, at ${place}`)
	}
	t.deepEqual(faults, [])
})
