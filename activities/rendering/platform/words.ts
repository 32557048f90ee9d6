/** What each kind of our own mail is told about. */
export interface PlatformMailData {
	verification: { url: string }
	passwordReset: { url: string }
	invitation: { url: string; project: string; inviter: string }
	suspension: { project: string; reason: SuspensionReason }
	/** `error` says which records are missing, in English as the API does. */
	domainLost: { project: string; domain: string; error: string }
}

export type PlatformMailKind = keyof PlatformMailData
export type SuspensionReason = 'bounces' | 'complaints'

export interface Letter {
	subject: string
	paragraphs: string[]
	/** What the button says, where there is something to click. */
	button?: string
	remark: string
}

export interface Words {
	/** Beneath a button, before its address. */
	addressOfButton: string
	letters: { [Kind in PlatformMailKind]: (data: PlatformMailData[Kind]) => Letter }
}

const english: Words = {
	addressOfButton: 'If the button does not work, open this address in your browser:',
	letters: {
		verification: () => ({
			subject: 'Confirm your email address',
			paragraphs: ['Please confirm that this address is yours. The link is valid for one hour.'],
			button: 'Confirm address',
			remark: 'You did not sign up? Then you need not do anything.',
		}),
		passwordReset: () => ({
			subject: 'Choose a new password',
			paragraphs: [
				'Somebody, probably you, asked for a new password for this account. The link is valid for one hour.',
			],
			button: 'Choose a password',
			remark: 'It was not you? Then your password stays as it is.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Invitation to ${project}`,
			paragraphs: [`${inviter} invites you to work on the project ${project}.`],
			button: 'Accept the invitation',
			remark: 'If you do not know what this is about, ignore this email.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `Sending is suspended: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Too many emails of the project ${project} could not be delivered because their addresses do not exist.`
					: `Too many recipients have reported emails of the project ${project} as spam.`,
				'To protect the delivery of your mail, sending is suspended. Waiting emails, campaigns and workflows were cancelled. Your data can still be read.',
			],
			remark: 'Please contact support: together we find the cause and lift the suspension.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} can no longer send: ${project}`,
			paragraphs: [
				`Three checks in a row did not find the DNS records that ${domain} needs, so the project ${project} cannot send from it any more.`,
				error,
			],
			remark:
				'Put the records back as they are shown for the domain. It is checked every few minutes, and can send again as soon as they are found.',
		}),
	},
}

const german: Words = {
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
		passwordReset: () => ({
			subject: 'Neues Passwort wählen',
			paragraphs: [
				'Jemand, vermutlich Sie selbst, hat für dieses Konto ein neues Passwort angefordert. Der Link gilt eine Stunde lang.',
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
	},
}

const french: Words = {
	addressOfButton: 'Si le bouton ne fonctionne pas, ouvrez cette adresse dans votre navigateur :',
	letters: {
		verification: () => ({
			subject: 'Confirmez votre adresse e-mail',
			paragraphs: [
				'Veuillez confirmer que cette adresse est la vôtre. Le lien est valable une heure.',
			],
			button: "Confirmer l'adresse",
			remark: "Vous ne vous êtes pas inscrit(e) ? Alors vous n'avez rien à faire.",
		}),
		passwordReset: () => ({
			subject: 'Choisissez un nouveau mot de passe',
			paragraphs: [
				"Quelqu'un, sans doute vous, a demandé un nouveau mot de passe pour ce compte. Le lien est valable une heure.",
			],
			button: 'Choisir un mot de passe',
			remark: "Ce n'était pas vous ? Alors votre mot de passe reste inchangé.",
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Invitation à ${project}`,
			paragraphs: [`${inviter} vous invite à participer au projet ${project}.`],
			button: "Accepter l'invitation",
			remark: "Si vous ne savez pas de quoi il s'agit, ignorez cet e-mail.",
		}),
		suspension: ({ project, reason }) => ({
			subject: `L'envoi est suspendu : ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Trop d'e-mails du projet ${project} n'ont pas pu être remis, car leurs adresses n'existent pas.`
					: `Trop de destinataires ont signalé des e-mails du projet ${project} comme indésirables.`,
				"Pour protéger la remise de vos e-mails, l'envoi est suspendu. Les e-mails en attente, les campagnes et les workflows ont été annulés. Vos données restent consultables.",
			],
			remark:
				"Veuillez contacter l'assistance : ensemble, nous trouverons la cause et lèverons la suspension.",
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} ne peut plus envoyer : ${project}`,
			paragraphs: [
				`Trois vérifications de suite n'ont pas trouvé les enregistrements DNS dont ${domain} a besoin. Le projet ${project} ne peut donc plus envoyer depuis ce domaine.`,
				error,
			],
			remark:
				"Rétablissez les enregistrements tels qu'ils sont affichés pour le domaine. Il est vérifié toutes les quelques minutes et pourra envoyer dès qu'ils seront trouvés.",
		}),
	},
}

const spanish: Words = {
	addressOfButton: 'Si el botón no funciona, abra esta dirección en su navegador:',
	letters: {
		verification: () => ({
			subject: 'Confirme su dirección de correo',
			paragraphs: ['Confirme que esta dirección es suya. El enlace es válido durante una hora.'],
			button: 'Confirmar la dirección',
			remark: '¿No se ha registrado? Entonces no tiene que hacer nada.',
		}),
		passwordReset: () => ({
			subject: 'Elija una contraseña nueva',
			paragraphs: [
				'Alguien, probablemente usted, ha pedido una contraseña nueva para esta cuenta. El enlace es válido durante una hora.',
			],
			button: 'Elegir una contraseña',
			remark: '¿No ha sido usted? Entonces su contraseña no cambia.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Invitación a ${project}`,
			paragraphs: [`${inviter} le invita a colaborar en el proyecto ${project}.`],
			button: 'Aceptar la invitación',
			remark: 'Si no sabe de qué se trata, ignore este correo.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `El envío está suspendido: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Demasiados correos del proyecto ${project} no pudieron entregarse porque sus direcciones no existen.`
					: `Demasiados destinatarios han marcado como spam correos del proyecto ${project}.`,
				'Para proteger la entrega de sus correos, el envío está suspendido. Se han cancelado los correos en espera, las campañas y los workflows. Sus datos se pueden seguir leyendo.',
			],
			remark:
				'Póngase en contacto con soporte: juntos encontraremos la causa y levantaremos la suspensión.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} ya no puede enviar: ${project}`,
			paragraphs: [
				`Tres comprobaciones seguidas no han encontrado los registros DNS que necesita ${domain}. Por eso el proyecto ${project} ya no puede enviar desde este dominio.`,
				error,
			],
			remark:
				'Restablezca los registros tal como se muestran para el dominio. Se comprueba cada pocos minutos y podrá enviar de nuevo en cuanto se encuentren.',
		}),
	},
}

const dutch: Words = {
	addressOfButton: 'Werkt de knop niet? Open dan dit adres in uw browser:',
	letters: {
		verification: () => ({
			subject: 'Bevestig uw e-mailadres',
			paragraphs: ['Bevestig dat dit adres van u is. De link is één uur geldig.'],
			button: 'Adres bevestigen',
			remark: 'Hebt u zich niet aangemeld? Dan hoeft u niets te doen.',
		}),
		passwordReset: () => ({
			subject: 'Kies een nieuw wachtwoord',
			paragraphs: [
				'Iemand, waarschijnlijk u, heeft een nieuw wachtwoord voor dit account aangevraagd. De link is één uur geldig.',
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
	},
}

export const spokenWords: Record<string, Words> = {
	en: english,
	de: german,
	fr: french,
	es: spanish,
	nl: dutch,
}
