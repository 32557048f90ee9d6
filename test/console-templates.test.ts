import test, { type ExecutionContext } from 'ava'
import type { Locator } from 'playwright-core'
import { withCampaigns } from './helpers/campaigns.ts'
import { asksBeforeUnload, barriersOf, phone, setupConsole } from './helpers/console.ts'
import { addContactsAlike } from './helpers/contacts-alike.ts'
import { saveSlowly } from './helpers/slow-save.ts'

const welcome = {
	name: 'Welcome',
	subject: 'Hello {{ name }}',
	body: '<p>Your plan is {{ plan }}.</p>',
	from: 'hello@example.com',
	type: 'TRANSACTIONAL',
}

// One after the other: each needs a whole browser page with an editor.
async function setupTemplates(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await withCampaigns(t, await setupConsole(t, options))
	const { request, page } = all
	const template = async (changes: object = {}) => {
		const answer = await request('POST', '/templates', { ...welcome, ...changes })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json().id as string
	}
	return {
		...all,
		template,
		stored: async (id: string) => (await request('GET', `/templates/${id}`)).json(),
		body: page.getByRole('textbox', { name: 'Body, HTML with Liquid' }),
		preview: page.frameLocator('iframe[title=Mail]'),
		/** Faults but the browser's note of a 422 or 409, which is how the API tells of faults in a text. */
		unexpected: () => all.faults.filter((fault) => !/status of (?:422|409)/.test(fault)),
	}
}

/** Types at the end of the text in the editor. */
async function typeAtEnd(body: Locator, text: string) {
	await body.click()
	await body.press('Control+End')
	await body.pressSequentially(text)
}

test.serial(
	'a template is written with its preview beside it, and stored with Ctrl-S',
	async (t) => {
		const { page, open, body, preview, stored, home, faults } = await setupTemplates(t)
		await open('templates')
		await page.getByRole('link', { name: 'New template' }).first().click()
		await page.getByLabel('Name', { exact: true }).fill('Receipt')
		await page.getByLabel('Subject').fill('Your order')
		await page.getByLabel('Type').selectOption('Transactional')
		await typeAtEnd(body, '<p>Thank you')
		await preview.getByText('Thank you').waitFor()
		await page.keyboard.press('Control+s')
		await page.getByText('The template is saved').waitFor()
		await page.getByRole('heading', { level: 1, name: 'Receipt' }).waitFor()
		await page.waitForURL(`${home}/templates/*-*`)
		const id = new URL(page.url()).pathname.split('/').at(-1)!
		const saved = await stored(id)
		t.like(saved, {
			name: 'Receipt',
			subject: 'Your order',
			type: 'TRANSACTIONAL',
			from: 'hello@example.com',
		})
		t.regex(saved.body, /<p>Thank you/)
		t.true(await page.getByRole('button', { name: 'Saved' }).isDisabled())
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a preview shows the mail of a chosen contact, typed data, the text part and unset variables',
	async (t) => {
		const { page, open, template, contacts, preview, faults } = await setupTemplates(t)
		await contacts(3, { data: { plan: 'pro' } })
		await open(`templates/${await template({ body: '<p>{{ plan }}, {{ code }}</p>' })}`)
		const unset = page.getByRole('button', { name: 'code' })
		await page.getByRole('button', { name: 'plan' }).waitFor()
		await page.getByLabel('Show the mail of').fill('user1')
		await page.getByRole('option', { name: 'user1@example.net' }).click()
		await preview.getByText('pro,').waitFor()
		await page.getByRole('button', { name: 'plan' }).waitFor({ state: 'detached' })
		await unset.click()
		t.is(await page.evaluate('getSelection().toString()'), 'code')
		await page.getByRole('button', { name: 'Data' }).click()
		await page.getByLabel('Data as JSON').fill('{"code": ')
		await page.getByText('This is not JSON yet.').waitFor()
		await page.getByLabel('Data as JSON').fill('{"code": 1234, "name": "Ann"}')
		await preview.getByText('pro, 1234').waitFor()
		await unset.waitFor({ state: 'detached' })
		await page.keyboard.press('Escape')
		await page.getByText('Text', { exact: true }).click()
		await page.getByLabel('text part').getByText('pro, 1234').waitFor()
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a preview is for the contact whose whole address is typed, though many contain it',
	async (t) => {
		const { page, open, template, pool, project, preview, faults } = await setupTemplates(t)
		await addContactsAlike(pool, project.id, 'ann@example.org')
		await open(`templates/${await template({ body: '<p>For {{ email }}</p>' })}`)
		await page.getByLabel('Show the mail of').fill('ann@example.org')
		await page.getByRole('option', { name: 'ann@example.org', exact: true }).click()
		await preview.getByText('For ann@example.org', { exact: true }).waitFor()
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a preview has the width of a desktop or a phone, and dark colours if the mail takes them',
	async (t) => {
		const { page, open, template, preview, faults } = await setupTemplates(t)
		/** The width and the background of the mail, once two frames have passed. */
		const look = async () => {
			await preview.getByText('Hello').waitFor()
			const frame = page.frames().find((one) => one.url().includes('mail-frame'))!
			return (await frame.evaluate(`new Promise((answer) => requestAnimationFrame(() => requestAnimationFrame(() =>
			answer([innerWidth, getComputedStyle(document.documentElement).backgroundColor]))))`)) as [
				number,
				string,
			]
		}
		const white = 'rgb(255, 255, 255)'
		await open(`templates/${await template({ body: '<p>Hello</p>' })}`)
		const [desktop, light] = await look()
		t.true(desktop > 600 && desktop <= 640, `${desktop}`)
		t.is(light, white)
		await page.getByText('Phone', { exact: true }).click()
		await page.getByLabel('Dark').check()
		const [narrow, dark] = await look()
		t.true(narrow > 360 && narrow <= 375, `${narrow}`)
		t.not(dark, white)
		const painted = '<table style="background: #fff"><tr><td>Hello</td></tr></table>'
		await open(`templates/${await template({ body: painted })}`)
		await page.getByLabel('Dark').check()
		t.is((await look())[1], white)
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a fault of Liquid is shown at its line, and the last good preview stays',
	async (t) => {
		const { page, open, template, body, preview, unexpected } = await setupTemplates(t)
		await open(`templates/${await template({ body: '<p>One</p>\n<p>Two</p>\n' })}`)
		await preview.getByText('Two').waitFor()
		await typeAtEnd(body, '{% if')
		await page.getByText('The body cannot be read').waitFor()
		await page.getByText('This is the last version that could be rendered').waitFor()
		await preview.getByText('Two').waitFor()
		await body.press('Control+Home')
		await page.getByRole('button', { name: 'Line 3' }).click()
		await page.keyboard.press('Control+Shift+k')
		await page.getByText('The body cannot be read').waitFor({ state: 'detached' })
		await page.getByLabel('Subject').fill('{{ x')
		await page.getByText('cannot be read: ').waitFor()
		t.is(await page.getByLabel('Subject').getAttribute('aria-invalid'), 'true')
		t.deepEqual(unexpected(), [])
	},
)

test.serial('known variables are completed', async (t) => {
	const { page, open, template, contacts, body, stored, unexpected } = await setupTemplates(t)
	await contacts(1, { data: { favouriteColour: 'red' } })
	const id = await template({ body: '<p>Hi</p>\n' })
	await open(`templates/${id}`)
	await typeAtEnd(body, '{{ favo')
	await page.getByRole('option', { name: /favouriteColour/ }).click()
	await page.keyboard.press('Control+s')
	await page.getByText('The template is saved').waitFor()
	t.regex((await stored(id)).body, /\{\{\s*favouriteColour\s*\}\}/)
	t.deepEqual(unexpected(), [])
})

test.serial('leaving with unsaved changes asks, and a reload brings them back', async (t) => {
	const { page, open, template, body, faults } = await setupTemplates(t)
	const id = await template()
	await open(`templates/${id}`)
	await typeAtEnd(body, 'unsaved words')
	await page.getByRole('link', { name: 'Templates' }).first().click()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
	await body.getByText('unsaved words').waitFor()
	t.true(await asksBeforeUnload(page))
	await page.reload()
	await page.getByText('These are your changes from before').waitFor()
	await body.getByText('unsaved words').waitFor()
	await page.getByRole('link', { name: 'Templates' }).first().click()
	await page.getByRole('button', { name: 'Leave without saving' }).click()
	await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
	await open(`templates/${id}`)
	await body.getByText('Your plan is').waitFor()
	t.is(await body.getByText('unsaved words').count(), 0)
	t.deepEqual(faults, [])
})

test.serial('when the session ends, the text is there again after the log-in', async (t) => {
	const { page, open, template, body, home } = await setupTemplates(t)
	const id = await template()
	await open(`templates/${id}`)
	await typeAtEnd(body, 'kept words')
	await page.getByText('Not saved').waitFor()
	const cookies = await page.context().cookies()
	await page.context().clearCookies()
	// By a key: the preview may ask for the log-in first, and take the button away.
	await page.keyboard.press('Control+s')
	await page.waitForURL(/log-in/)
	await page.context().addCookies(cookies)
	await page.goto(`${home}/templates/${id}`)
	await page.getByText('These are your changes from before').waitFor()
	await body.getByText('kept words').waitFor()
	t.pass()
})

test.serial(
	'a template that somebody else has changed is overwritten only after that is said',
	async (t) => {
		const { page, open, template, body, request, stored, unexpected } = await setupTemplates(t)
		const id = await template()
		await open(`templates/${id}`)
		await typeAtEnd(body, 'mine')
		await request('PATCH', `/templates/${id}`, { body: '<p>Theirs</p>' })
		await page.getByRole('button', { name: 'Save', exact: true }).click()
		await page.getByText('This template has changed since you opened it').waitFor()
		t.is((await stored(id)).body, '<p>Theirs</p>')
		await body.getByText('mine').waitFor()
		await page.getByRole('button', { name: 'Save mine over it' }).click()
		await page.getByText('The template is saved').waitFor()
		t.regex((await stored(id)).body, /mine$/)
		t.deepEqual(unexpected(), [])
	},
)

test.serial(
	'the gallery renders only what is in view, and is searched, filtered and opened with the keyboard',
	async (t) => {
		const { page, open, template, home, faults } = await setupTemplates(t)
		for (let number = 10; number < 34; number++) await template({ name: `Letter ${number}` })
		await template({ name: 'Newsletter', type: 'MARKETING' })
		const rendered = new Set<string>()
		page.on('request', (request) => {
			if (request.url().endsWith('/preview')) rendered.add(request.url())
		})
		await open('templates')
		const gallery = page.getByRole('list', { name: 'Templates' })
		await gallery.getByRole('link').first().focus()
		await gallery.locator('iframe').nth(3).waitFor()
		t.true(rendered.size < 20, `${rendered.size} of 24`)
		await page.keyboard.press('ArrowRight')
		t.is(await page.evaluate('document.activeElement.textContent'), 'Letter 33')
		await page.getByRole('button', { name: 'Show more' }).click()
		await page.getByRole('link', { name: 'Letter 10' }).waitFor()
		await page.getByLabel('Type').selectOption('Marketing')
		await page.getByRole('link', { name: 'Letter 10' }).waitFor({ state: 'detached' })
		t.deepEqual(await gallery.getByRole('link').allTextContents(), ['Newsletter'])
		await page.getByRole('searchbox').fill('nothing like it')
		await page.getByRole('heading', { name: 'No template is like that' }).waitFor()
		t.is(page.url(), `${home}/templates?type=MARKETING&search=nothing+like+it`)
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a template in use says by what; an unused one is deleted after a question',
	async (t) => {
		const { page, open, template, create, request, faults } = await setupTemplates(t)
		const used = await template({ name: 'Used' })
		await template({ name: 'Unused' })
		await create({ name: 'Spring', template: used })
		await open('templates')
		const remove = async (name: string) => {
			await page.getByRole('button', { name: `Acts for ${name}`, exact: true }).click()
			await page.getByRole('menuitem', { name: 'Delete' }).click()
		}
		await remove('Used')
		await page.getByRole('dialog').getByRole('link', { name: 'Spring' }).waitFor()
		await page.keyboard.press('Escape')
		await remove('Unused')
		await page.getByRole('alertdialog').getByText('Nothing uses it').waitFor()
		await page.getByRole('button', { name: 'Delete the template' }).click()
		await page.getByRole('link', { name: 'Unused' }).waitFor({ state: 'detached' })
		t.is((await request('GET', '/templates')).json().total, 1)
		t.deepEqual(faults, [])
	},
)

test.serial('a test of the mail is sent after its changes are saved, on a phone', async (t) => {
	const { page, open, template, body, stored, query, faults } = await setupTemplates(t, {
		browser: { viewport: phone },
	})
	const id = await template()
	await open(`templates/${id}`)
	await typeAtEnd(body, 'new words')
	await page.getByRole('button', { name: 'Send test' }).click()
	const dialog = page.getByRole('dialog')
	t.is(await dialog.getByLabel('Address').inputValue(), 'ann@example.org')
	await dialog.getByRole('button', { name: 'Save and send the test' }).click()
	await page.getByText('A test is on its way to ann@example.org').waitFor()
	t.regex((await stored(id)).body, /new words$/)
	t.like(await query('select "to", subject from emails'), [
		{ to: 'ann@example.org', subject: '[TEST] Hello' },
	])
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	t.deepEqual(faults, [])
})

test.serial('the pages of templates have no barrier, in light and dark', async (t) => {
	const { page, open, template, preview, body, faults } = await setupTemplates(t)
	const id = await template()
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme })
		await open('templates')
		await page.getByRole('link', { name: 'Welcome' }).waitFor()
		t.deepEqual(await barriersOf(page), [], `gallery, ${colorScheme}`)
		await open(`templates/${id}`)
		await body.waitFor()
		await preview.getByText('Your plan is').waitFor()
		t.deepEqual(await barriersOf(page), [], `editor, ${colorScheme}`)
	}
	t.deepEqual(faults, [])
})

test.serial('a template that is still being saved is sent as a test as it was saved', async (t) => {
	const { page, open, template, stored, faults } = await setupTemplates(t)
	const id = await template()
	await open(`templates/${id}`)
	const save = await saveSlowly(page, `/templates/${id}`, 'PATCH')
	await page.getByRole('button', { name: 'Send test' }).click()
	await page.getByRole('button', { name: 'Save and send the test' }).click()
	t.is(await save.answer(), 200)
	save.answerSecond()
	await page.getByRole('dialog', { name: 'Send a test' }).waitFor({ state: 'detached' })
	t.regex((await stored(id)).subject, /!$/)
	t.deepEqual(faults, [])
})

test.serial(
	'typing goes on while a new template is stored, and is saved by the next save',
	async (t) => {
		const { page, open, request, stored, home, faults } = await setupTemplates(t)
		await open('templates/new')
		await page.getByLabel('Name', { exact: true }).fill('Receipt')
		await page.getByLabel('Subject').fill('Your order')
		const save = await saveSlowly(page, '/templates', 'POST')
		await page.getByLabel('Subject').pressSequentially(' has left')
		t.is(await save.answer(), 201)
		await page.getByText('The template is saved').waitFor()
		await page.getByText('Not saved').waitFor()
		t.is(await page.getByRole('alertdialog').count(), 0)
		t.is(await page.getByLabel('Subject').inputValue(), 'Your order! has left')
		await page.waitForURL(`${home}/templates/*-*`)
		await page.getByLabel('Subject').pressSequentially(' today')
		await page.keyboard.press('Control+s')
		await page.getByRole('button', { name: 'Saved' }).waitFor()
		const id = new URL(page.url()).pathname.split('/').at(-1)!
		t.is((await stored(id)).subject, 'Your order! has left today')
		t.is((await request('GET', '/templates')).json().total, 1)
		t.deepEqual(faults, [])
	},
)

test.serial(
	'a new template gets its address with the first save, its writer types on, and a reload keeps all',
	async (t) => {
		const { page, open, body, request, stored, home, faults } = await setupTemplates(t)
		await open('templates/new')
		await page.getByLabel('Name', { exact: true }).fill('Receipt')
		const save = await saveSlowly(page, '/templates', 'POST')
		await body.click()
		await page.keyboard.press('Control+Home')
		await page.keyboard.type('One')
		t.is(await save.answer(), 201)
		await page.waitForURL(`${home}/templates/*-*`)
		await page.keyboard.type(' two')
		await body.getByText('One two').waitFor()
		await page.keyboard.press('Control+s')
		await page.getByRole('button', { name: 'Saved' }).waitFor()
		await page.keyboard.type(' three')
		await page.getByText('Not saved').waitFor()
		t.true(await asksBeforeUnload(page))
		await page.reload()
		await page.getByText('These are your changes from before').waitFor()
		await body.getByText('One two three').waitFor()
		const id = new URL(page.url()).pathname.split('/').at(-1)!
		t.regex((await stored(id)).body, /^One two</)
		t.is((await request('GET', '/templates')).json().total, 1)
		await page.keyboard.press('Control+k')
		await page.getByRole('combobox', { name: 'Go to or do' }).fill('new temp')
		await page.keyboard.press('Enter')
		await page.getByRole('button', { name: 'Leave without saving' }).click()
		await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor()
		t.is(await page.getByLabel('Name', { exact: true }).inputValue(), '')
		t.deepEqual(faults, [])
	},
)

test.serial('after a new template is stored, another new one begins empty', async (t) => {
	const { page, open, home, faults } = await setupTemplates(t)
	await open('templates/new')
	const name = page.getByLabel('Name', { exact: true })
	await name.fill('Receipt')
	await page.getByLabel('Subject').fill('Your order')
	await page.keyboard.press('Control+s')
	await page.waitForURL(`${home}/templates/*-*`)
	await page.keyboard.press('Control+k')
	await page.getByRole('combobox', { name: 'Go to or do' }).fill('new temp')
	await page.keyboard.press('Enter')
	await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor()
	t.not(await name.inputValue(), 'Receipt')
	t.is(page.url(), `${home}/templates/new`)
	t.deepEqual(faults, [])
})
