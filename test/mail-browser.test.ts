import test, { type ExecutionContext } from 'ava'
import { composeMessage, type Mail } from '../mail/compose.ts'
import { openBrowser } from './helpers/browser.ts'

const mail: Mail = {
	emailId: 'eeeeeeee-0000-7000-8000-000000000001',
	projectId: 'aaaaaaaa-0000-7000-8000-000000000001',
	contactId: 'cccccccc-0000-7000-8000-000000000001',
	from: { email: 'shop@example.com', name: 'Shop' },
	to: { email: 'ann@example.org', name: null },
	replyTo: null,
	subject: 'News',
	body: '<p>News</p><hr><blockquote>Said</blockquote>',
	headers: null,
	language: 'en',
	type: 'MARKETING',
	createdAt: new Date(0),
}
const simple = { body: mail.body }
const designed = { body: '<table style="background:#f4f4f4"><tr><td>News</td></tr></table>' }

async function look(t: ExecutionContext, colorScheme: 'light' | 'dark', changes: Partial<Mail>) {
	const page = await openBrowser(t, { colorScheme })
	await page.setContent(composeMessage({ ...mail, ...changes }, [], 'https://m.example').html)
	return {
		style: (selector: string, property: string) =>
			page.evaluate(
				`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`,
			) as Promise<string>,
	}
}

/** Relative luminance and contrast as in WCAG 2.2. */
function luminance(colour: string) {
	const [r, g, b] = colour.match(/\d+/g)!.map((part) => {
		const share = Number(part) / 255
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
	}) as [number, number, number]
	return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
function contrast(one: string, other: string) {
	const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
	return (light! + 0.05) / (dark! + 0.05)
}

test('the footer is legible (WCAG AA) in light and dark, in our layout and in any design', async (t) => {
	for (const colorScheme of ['light', 'dark'] as const)
		for (const body of [simple, designed]) {
			const { style } = await look(t, colorScheme, body)
			const background = await style('.tempost-footer', 'background-color')
			for (const part of ['.tempost-footer', '.tempost-footer a']) {
				const ratio = contrast(await style(part, 'color'), background)
				t.true(ratio >= 4.5, `${part} in ${colorScheme}: ${ratio.toFixed(2)}`)
			}
		}
})

test('lines and quotes are quiet in the dark, and quotes begin where the reader does', async (t) => {
	for (const [colorScheme, most] of [
		['light', 2],
		['dark', 3],
	] as const) {
		const { style } = await look(t, colorScheme, simple)
		const background = await style('.content', 'background-color')
		for (const [part, side] of [
			['hr', 'top'],
			['blockquote', 'left'],
		] as const) {
			const ratio = contrast(await style(`.content ${part}`, `border-${side}-color`), background)
			t.true(ratio > 1.3 && ratio < most, `${part} in ${colorScheme}: ${ratio.toFixed(2)}`)
		}
	}
	const { style } = await look(t, 'light', { ...simple, language: 'ar' })
	t.is(await style('.content blockquote', 'border-right-width'), '3px')
	t.is(await style('.content blockquote', 'padding-right'), '16px')
	t.is(await style('.content blockquote', 'border-left-width'), '0px')
})
