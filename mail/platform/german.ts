import { listed } from './plain-name.ts'
import type { Words } from './words.ts'

const kinds = {
	workflows: 'E-Mails aus Workflows',
	campaigns: 'Kampagnen',
	transactional: 'transaktionale E-Mails',
	inbound: 'eingehende E-Mails',
	total: 'alle E-Mails',
}

export const german: Words = {
	addressOfButton:
		'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse im Browser:',
	letters: {
		verification: () => ({
			subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
			paragraphs: [
				'Bitte bestätigen Sie, dass diese Adresse Ihnen gehört. Der Link gilt eine Stunde lang.',
			],
			button: 'Adresse bestätigen',
			remark: 'Sie haben sich nicht registriert? Dann müssen Sie nichts tun.',
		}),
		passwordReset: ({ isVerified }) => ({
			subject: 'Neues Passwort wählen',
			paragraphs: [
				'Jemand, vermutlich Sie selbst, hat für dieses Konto ein neues Passwort angefordert. Der Link gilt eine Stunde lang.',
				...(isVerified
					? []
					: [
							'Die Adresse dieses Kontos ist noch nicht bestätigt. Hat das Konto Projekte, werden mit dem neuen Passwort auch deren Schlüssel ersetzt, ihre anderen Mitglieder entfernt und ihre Webhook-Endpunkte deaktiviert. Auch Workflows, die Daten von Kontakten an andere Adressen senden, werden deaktiviert.',
						]),
			],
			button: 'Passwort wählen',
			remark: 'Das waren nicht Sie? Dann bleibt Ihr Passwort, wie es ist.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Einladung zu ${project}`,
			paragraphs: [`${inviter} lädt Sie zur Mitarbeit am Projekt ${project} ein.`],
			button: 'Einladung annehmen',
			remark: 'Wenn Sie nicht wissen, worum es geht, ignorieren Sie diese E-Mail.',
		}),
		memberAdded: ({ project, inviter }) => ({
			subject: `Sie wurden zu ${project} hinzugefügt`,
			paragraphs: [
				`${inviter} hat Sie zum Projekt ${project} hinzugefügt. Ab jetzt können Sie mit Ihrem Konto daran mitarbeiten.`,
			],
			remark:
				'Wenn Sie dieses Projekt nicht kennen, müssen Sie nichts tun. Ihr Konto und Ihre eigenen Projekte sind davon nicht betroffen.',
		}),
		accountSecured: ({ projects, members }) => ({
			subject: 'Ihr Konto gehört jetzt Ihnen allein',
			paragraphs: [
				'Ihre E-Mail-Adresse war bisher nicht bestätigt, also hätte jemand anderes dieses Konto mit ihr anlegen können. Nun haben Sie gezeigt, dass die Adresse Ihnen gehört, und alle früheren Sitzungen sind beendet.',
				`Die Schlüssel dieser Projekte wurden ersetzt, ihre anderen Mitglieder und offene Einladungen entfernt und ihre Webhook-Endpunkte deaktiviert: ${listed(projects)}.`,
				'Workflows, die Daten von Kontakten per Webhook oder E-Mail an andere Adressen senden, wurden ebenfalls deaktiviert und ihre Ausführungen abgebrochen.',
				...(members.length > 0 ? [`Entfernte Mitglieder: ${listed(members)}.`] : []),
			],
			remark:
				'Gelöscht wurde nichts. Erstellen Sie neue Schlüssel, bevor Ihre Anwendungen diese Projekte wieder benutzen. Geben Sie eigenen Webhook-Endpunkten ein neues Secret und aktivieren Sie sie. Prüfen Sie Workflows, Webhooks und Domains, die Sie nicht selbst eingerichtet haben.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `Der Versand ist gesperrt: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Zu viele E-Mails des Projekts ${project} konnten nicht zugestellt werden, weil es ihre Adressen nicht gibt.`
					: `Zu viele Empfänger haben E-Mails des Projekts ${project} als Spam gemeldet.`,
				'Um die Zustellbarkeit Ihrer E-Mails zu schützen, ist der Versand gesperrt. Wartende E-Mails, Kampagnen und Workflows wurden abgebrochen. Ihre Daten können Sie weiterhin lesen.',
			],
			remark:
				'Bitte wenden Sie sich an den Support: gemeinsam finden wir die Ursache und heben die Sperre auf.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} kann nicht mehr senden: ${project}`,
			paragraphs: [
				`Drei Prüfungen nacheinander haben die DNS-Einträge nicht gefunden, die ${domain} braucht. Das Projekt ${project} kann deshalb nicht mehr von dieser Domain senden.`,
				error,
			],
			remark:
				'Stellen Sie die Einträge wieder her, wie sie bei der Domain angezeigt werden. Sie wird alle paar Minuten geprüft und kann wieder senden, sobald sie gefunden sind.',
		}),
		usageLimit: ({ project, category, used, limit, isReached }) => ({
			subject: isReached
				? `Ein Limit ist erreicht: ${project}`
				: `Ein Limit ist fast erreicht: ${project}`,
			paragraphs: [
				`Das Projekt ${project} hat ${used} der ${limit} E-Mails verbraucht, die es in diesem Monat hat (${kinds[category]}).`,
				isReached
					? 'Bis der Monat endet (UTC) oder das Limit erhöht wird, wird davon nichts mehr gesendet oder angenommen: Anfragen werden abgelehnt, Kampagnen pausieren, Schritte von Workflows schlagen fehl.'
					: 'Ist das Limit erreicht, wird davon bis zum Ende des Monats (UTC) nichts mehr gesendet oder angenommen.',
			],
			remark:
				'Wer das Projekt verwaltet, kann die Limits erhöhen oder, wenn nur die freien E-Mails zur Verfügung stehen, ein Abonnement abschließen.',
		}),
		paymentFailed: ({ project }) => ({
			subject: `Eine Zahlung ist fehlgeschlagen, der Versand ist gesperrt: ${project}`,
			paragraphs: [
				`Die Zahlung für das Projekt ${project} konnte auch nach mehreren Versuchen nicht eingezogen werden.`,
				'Der Versand ist deshalb gesperrt. Wartende E-Mails, Kampagnen und Workflows wurden abgebrochen. Ihre Daten können Sie weiterhin lesen.',
			],
			remark:
				'Begleichen Sie die offene Rechnung über die Abrechnungsseite des Projekts: sobald sie bezahlt ist, kann wieder gesendet werden.',
		}),
		webhookDisabled: ({ project, endpoint, reason }) => ({
			subject: `Ein Webhook-Endpunkt ist deaktiviert: ${project}`,
			paragraphs: [
				reason === 'GONE'
					? `${endpoint} hat geantwortet, dass es ihn nicht mehr gibt (410). Das Projekt ${project} sendet ihm keine Ereignisse mehr.`
					: `${endpoint} hat seit fünf Tagen kein Ereignis angenommen. Das Projekt ${project} sendet ihm keine Ereignisse mehr.`,
				'Seine Ereignisse werden 30 Tage lang aufbewahrt.',
			],
			remark:
				'Aktivieren Sie den Endpunkt wieder, sobald er funktioniert, und senden Sie die verpassten Ereignisse erneut.',
		}),
	},
}
