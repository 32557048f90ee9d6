import type { Page } from 'playwright-core'

/**
 * Types into the subject and saves it on a slow line: the first save is answered once `answer` is called, and a second
 * one once `answerSecond` is.
 */
export async function saveSlowly(page: Page, path: string, method: 'POST' | 'PUT' | 'PATCH') {
	const asked = Promise.withResolvers<void>()
	const first = Promise.withResolvers<void>()
	const second = Promise.withResolvers<void>()
	const turns = [first.promise, second.promise]
	await page.route(`**${path}`, async (route) => {
		if (route.request().method() !== method) return route.continue()
		asked.resolve()
		await turns.shift()
		return route.continue()
	})
	await page.getByLabel('Subject').press('End')
	await page.getByLabel('Subject').pressSequentially('!')
	await page.keyboard.press('Control+s')
	await asked.promise
	// The preview asks for answers too.
	const answer = page.waitForResponse(
		(response) => response.request().method() === method && response.url().endsWith(path),
	)
	return {
		async answer() {
			first.resolve()
			return (await answer).status()
		},
		answerSecond: () => second.resolve(),
	}
}
