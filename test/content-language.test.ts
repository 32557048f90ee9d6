import test from 'ava'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { openCampaigns } from './helpers/campaigns.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import PostalMime from 'postal-mime'

const headOf = (html: string) => /<html[^>]*>/.exec(html)![0]

test('a campaign’s text is not turned around by the locale of a contact; its footer speaks it', async (t) => {
	const { send, worker, sink, query } = await overSmtp(t, 1)
	await query(`update contacts set data = '{"name": "Ann", "locale": "ar"}'`)
	await send(worker)
	const { html } = await PostalMime.parse(sink.mails[0]!.raw)
	t.is(headOf(html!), '<html dir="ltr" lang="en">')
})

test('a campaign has the language of its template', async (t) => {
	const { request, create, get, id } = await sendingCampaign(t, 1)
	t.is((await get(id)).language, null)
	const made = await request('POST', '/templates', {
		name: 'News',
		subject: 'Hello',
		body: '<p>Hello</p>',
		from: 'news@example.com',
		language: 'he',
	})
	t.is(made.statusCode, 201, made.body)
	t.is(made.json().language, 'he')
	const taken = await create({ template: made.json().id, name: 'News', subject: 'Hello' })
	t.is((await get(taken.id)).language, 'he')
	const listed = (await request('GET', '/templates')).json()
	t.is(listed.data[0].language, 'he')
	const copy = await request('POST', `/templates/${made.json().id}/duplicate`)
	t.is(copy.json().language, 'he')
	const preview = await request('POST', `/templates/${made.json().id}/preview`, {
		data: { locale: 'fr' },
	})
	t.is(headOf(preview.json().html), '<html dir="rtl" lang="he">')
	t.regex(preview.json().html, /<div lang="fr" dir="ltr"[^>]*>.*Se désabonner/s)
	const refused = await request('PATCH', `/templates/${made.json().id}`, { language: 'hebrew' })
	t.is(refused.json().error.errors[0].field, 'language')
	const cleared = await request('PATCH', `/templates/${made.json().id}`, { language: null })
	t.is(cleared.json().language, null)
})

test('the language of a campaign is changed, copied and kept by its mails', async (t) => {
	const { call, create, get, contacts, act, activities, query, pool, project } =
		await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	t.is((await call('PUT', `/${id}`, { language: 'fa' })).json().language, 'fa')
	t.is((await call('PUT', `/${id}`, { name: 'Summer' })).json().language, 'fa')
	t.is((await call('POST', `/${id}/duplicate`)).json().language, 'fa')
	await call('POST', `/${id}/send`)
	await act(activities.materialiseCampaign, id)
	const sent: string[] = []
	const { provider } = scriptedProvider(({ html }) => void sent.push(html))
	await campaignWorker(pool, provider).send(project.id, id)
	t.regex(sent[0]!, /lang="fa"/)
	t.deepEqual(
		await query(`select coalesce(e.language, k.language) as language from emails e, campaigns k
			where k.id = e.campaign_id`),
		[{ language: 'en' }],
	)
	t.is((await get(id)).language, 'fa')
})
