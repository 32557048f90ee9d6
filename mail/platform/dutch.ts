import { listed } from './plain-name.ts'
import type { Words } from './words.ts'

const kinds = {
	workflows: 'e-mail van workflows',
	campaigns: 'campagnes',
	transactional: 'transactionele e-mail',
	inbound: 'inkomende e-mail',
	total: 'alle e-mail',
}

export const dutch: Words = {
	addressOfButton: 'Werkt de knop niet? Open dan dit adres in uw browser:',
	letters: {
		verification: () => ({
			subject: 'Bevestig uw e-mailadres',
			paragraphs: ['Bevestig dat dit adres van u is. De link is één uur geldig.'],
			button: 'Adres bevestigen',
			remark: 'Hebt u zich niet aangemeld? Dan hoeft u niets te doen.',
		}),
		passwordReset: ({ isVerified }) => ({
			subject: 'Kies een nieuw wachtwoord',
			paragraphs: [
				'Iemand, waarschijnlijk u, heeft een nieuw wachtwoord voor dit account aangevraagd. De link is één uur geldig.',
				...(isVerified
					? []
					: [
							'Het adres van dit account is nog niet bevestigd. Heeft het account projecten, dan worden met het nieuwe wachtwoord ook hun sleutels vervangen, hun andere leden verwijderd en hun webhook-endpoints uitgeschakeld. Ook workflows die gegevens van contacten naar andere adressen sturen, worden uitgeschakeld.',
						]),
			],
			button: 'Wachtwoord kiezen',
			remark: 'Was u het niet? Dan blijft uw wachtwoord zoals het is.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Uitnodiging voor ${project}`,
			paragraphs: [`${inviter} nodigt u uit om mee te werken aan het project ${project}.`],
			button: 'Uitnodiging aannemen',
			remark: 'Weet u niet waar dit over gaat? Negeer deze e-mail dan.',
		}),
		memberAdded: ({ project, inviter }) => ({
			subject: `U bent toegevoegd aan ${project}`,
			paragraphs: [
				`${inviter} heeft u toegevoegd aan het project ${project}. U kunt er vanaf nu met uw account aan meewerken.`,
			],
			remark:
				'Kent u dit project niet? Dan hoeft u niets te doen. Uw account en uw eigen projecten veranderen niet.',
		}),
		accountSecured: ({ projects, members }) => ({
			subject: 'Uw account is nu alleen van u',
			paragraphs: [
				'Uw e-mailadres was nog niet bevestigd, dus iemand anders had dit account ermee kunnen aanmaken. Nu u hebt laten zien dat het adres van u is, zijn alle eerdere sessies beëindigd.',
				`De sleutels van deze projecten zijn vervangen, hun andere leden en openstaande uitnodigingen verwijderd en hun webhook-endpoints uitgeschakeld: ${listed(projects)}.`,
				'Workflows die gegevens van contacten per webhook of e-mail naar andere adressen sturen, zijn ook uitgeschakeld en hun uitvoeringen geannuleerd.',
				...(members.length > 0 ? [`Verwijderde leden: ${listed(members)}.`] : []),
			],
			remark:
				'Er is niets gewist. Maak nieuwe sleutels voordat uw toepassingen deze projecten weer gebruiken. Geef uw eigen webhook-endpoints een nieuw geheim en schakel ze in. Controleer workflows, webhooks en domeinen die u niet zelf hebt ingesteld.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `Het verzenden is opgeschort: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Te veel e-mails van het project ${project} konden niet worden bezorgd omdat hun adressen niet bestaan.`
					: `Te veel ontvangers hebben e-mails van het project ${project} als spam gemeld.`,
				'Om de bezorging van uw e-mail te beschermen, is het verzenden opgeschort. Wachtende e-mails, campagnes en workflows zijn geannuleerd. Uw gegevens zijn nog te lezen.',
			],
			remark:
				'Neem contact op met support: samen vinden we de oorzaak en heffen we de opschorting op.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} kan niet meer verzenden: ${project}`,
			paragraphs: [
				`Drie controles achter elkaar vonden de DNS-records niet die ${domain} nodig heeft. Het project ${project} kan daarom niet meer vanaf dit domein verzenden.`,
				error,
			],
			remark:
				'Zet de records terug zoals ze bij het domein worden getoond. Het wordt om de paar minuten gecontroleerd en kan weer verzenden zodra ze gevonden zijn.',
		}),
		usageLimit: ({ project, category, used, limit, isReached }) => ({
			subject: isReached
				? `Een limiet is bereikt: ${project}`
				: `Een limiet is bijna bereikt: ${project}`,
			paragraphs: [
				`Het project ${project} heeft ${used} van de ${limit} e-mails gebruikt die het deze maand heeft (${kinds[category]}).`,
				isReached
					? 'Tot het einde van de maand (UTC) of tot de limiet wordt verhoogd, wordt hiervan niets meer verzonden of aangenomen: verzoeken worden geweigerd, campagnes pauzeren en stappen van workflows mislukken.'
					: 'Als de limiet is bereikt, wordt hiervan tot het einde van de maand (UTC) niets meer verzonden of aangenomen.',
			],
			remark:
				'Een beheerder van het project kan de limieten verhogen, of een abonnement nemen als alleen de gratis e-mails over zijn.',
		}),
		paymentFailed: ({ project }) => ({
			subject: `Een betaling is mislukt, het verzenden is opgeschort: ${project}`,
			paragraphs: [
				`De betaling voor het project ${project} kon na meerdere pogingen niet worden geïnd.`,
				'Daarom is het verzenden opgeschort. Wachtende e-mails, campagnes en workflows zijn geannuleerd. Uw gegevens zijn nog te lezen.',
			],
			remark:
				'Betaal de openstaande factuur via de factureringspagina van het project: zodra die is betaald, kan er weer worden verzonden.',
		}),
		webhookDisabled: ({ project, endpoint, reason }) => ({
			subject: `Een webhook-endpoint is uitgeschakeld: ${project}`,
			paragraphs: [
				reason === 'GONE'
					? `${endpoint} heeft geantwoord dat het niet meer bestaat (410). Het project ${project} stuurt er geen gebeurtenissen meer naartoe.`
					: `${endpoint} heeft vijf dagen lang geen gebeurtenis geaccepteerd. Het project ${project} stuurt er geen gebeurtenissen meer naartoe.`,
				'De gebeurtenissen worden 30 dagen bewaard.',
			],
			remark:
				'Schakel het endpoint weer in zodra het werkt en stuur de gemiste gebeurtenissen opnieuw.',
		}),
	},
}
