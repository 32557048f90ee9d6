import { primaryLanguage } from '../../mail/language.ts'

/** `{email}` and `{project}` are replaced. */
export interface PublicWords {
	unsubscribe: string
	unsubscribeQuestion: string
	unsubscribed: string
	unsubscribedMeans: string
	subscribe: string
	subscribeQuestion: string
	subscribed: string
	subscribedMeans: string
	subscribeAgain: string
	manage: string
	manageIntroduction: string
	all: string
	allMeans: string
	necessary: string
	necessaryMeans: string
	none: string
	noneMeans: string
	stopped: string
	fromMail: string
	save: string
	saved: string
	missing: string
	missingMeans: string
	tooOften: string
	tooOftenMeans: string
	unavailable: string
	unavailableMeans: string
}

const en: PublicWords = {
	unsubscribe: 'Unsubscribe',
	unsubscribeQuestion: 'Unsubscribe {email} from the newsletters of {project}?',
	unsubscribed: 'You are unsubscribed',
	unsubscribedMeans: '{email} no longer gets newsletters from {project}.',
	subscribe: 'Subscribe',
	subscribeQuestion: 'Subscribe {email} to the newsletters of {project}?',
	subscribed: 'You are subscribed',
	subscribedMeans: '{email} gets newsletters from {project}.',
	subscribeAgain: 'Subscribe again',
	manage: 'Email preferences',
	manageIntroduction: 'What may {project} send to {email}?',
	all: 'Newsletters and necessary emails',
	allMeans: 'News and offers as well.',
	necessary: 'Only necessary emails',
	necessaryMeans: 'Such as receipts and replies to your own actions.',
	none: 'No emails at all',
	noneMeans: 'Not even receipts or links for a new password.',
	stopped: '{email} gets no emails at all from {project}.',
	fromMail:
		'To stop all emails, or to get them again, open this page from the link in one of them.',
	save: 'Save',
	saved: 'Your choice is saved.',
	missing: 'This link does not work',
	missingMeans:
		'It may be incomplete, or its page no longer exists. Please open it again from the email.',
	tooOften: 'Please try again later',
	tooOftenMeans:
		'This was done too often within an hour. Nothing was changed. You can unsubscribe at any time.',
	unavailable: 'Please try again in a moment',
	unavailableMeans: 'We cannot do this right now. Nothing was changed.',
}

const de: PublicWords = {
	unsubscribe: 'Abmelden',
	unsubscribeQuestion: 'Soll {email} keine Newsletter von {project} mehr erhalten?',
	unsubscribed: 'Sie sind abgemeldet',
	unsubscribedMeans: '{email} erhält keine Newsletter von {project} mehr.',
	subscribe: 'Anmelden',
	subscribeQuestion: 'Soll {email} Newsletter von {project} erhalten?',
	subscribed: 'Sie sind angemeldet',
	subscribedMeans: '{email} erhält Newsletter von {project}.',
	subscribeAgain: 'Wieder anmelden',
	manage: 'E-Mail-Einstellungen',
	manageIntroduction: 'Was darf {project} an {email} senden?',
	all: 'Newsletter und notwendige E-Mails',
	allMeans: 'Auch Neuigkeiten und Angebote.',
	necessary: 'Nur notwendige E-Mails',
	necessaryMeans: 'Zum Beispiel Belege und Antworten auf das, was Sie selbst tun.',
	none: 'Gar keine E-Mails',
	noneMeans: 'Auch keine Belege und keine Links für ein neues Passwort.',
	stopped: '{email} erhält gar keine E-Mails von {project}.',
	fromMail:
		'Um alle E-Mails zu stoppen oder wieder zu erhalten, öffnen Sie diese Seite über den Link in einer davon.',
	save: 'Speichern',
	saved: 'Ihre Auswahl ist gespeichert.',
	missing: 'Dieser Link führt nirgendwohin',
	missingMeans:
		'Vielleicht ist er unvollständig, oder das Ziel gibt es nicht mehr. Bitte öffnen Sie ihn noch einmal aus der E-Mail.',
	tooOften: 'Bitte versuchen Sie es später noch einmal',
	tooOftenMeans:
		'Das geschah sehr oft innerhalb einer Stunde. Es wurde nichts geändert; abmelden können Sie sich jederzeit.',
	unavailable: 'Bitte versuchen Sie es gleich noch einmal',
	unavailableMeans: 'Das ist im Augenblick nicht möglich. Es wurde nichts geändert.',
}

const fr: PublicWords = {
	unsubscribe: 'Se désabonner',
	unsubscribeQuestion: 'Voulez-vous que {email} ne reçoive plus les newsletters de {project} ?',
	unsubscribed: 'Vous êtes désabonné(e)',
	unsubscribedMeans: '{email} ne reçoit plus les newsletters de {project}.',
	subscribe: 'S’abonner',
	subscribeQuestion: 'Voulez-vous que {email} reçoive les newsletters de {project} ?',
	subscribed: 'Vous êtes abonné(e)',
	subscribedMeans: '{email} reçoit les newsletters de {project}.',
	subscribeAgain: 'Se réabonner',
	manage: 'Préférences d’e-mail',
	manageIntroduction: 'Que peut envoyer {project} à {email} ?',
	all: 'Les newsletters et les e-mails nécessaires',
	allMeans: 'Y compris les nouveautés et les offres.',
	necessary: 'Seulement les e-mails nécessaires',
	necessaryMeans: 'Par exemple les reçus et les réponses à vos propres actions.',
	none: 'Aucun e-mail',
	noneMeans: 'Pas même les reçus ni les liens pour un nouveau mot de passe.',
	stopped: '{email} ne reçoit aucun e-mail de {project}.',
	fromMail:
		'Pour arrêter tous les e-mails, ou les recevoir de nouveau, ouvrez cette page depuis le lien dans l’un d’eux.',
	save: 'Enregistrer',
	saved: 'Votre choix est enregistré.',
	missing: 'Ce lien ne mène nulle part',
	missingMeans:
		'Il est peut-être incomplet, ou sa destination n’existe plus. Ouvrez-le de nouveau depuis l’e-mail.',
	tooOften: 'Veuillez réessayer plus tard',
	tooOftenMeans:
		'Cela a été fait très souvent en une heure. Rien n’a été modifié ; vous pouvez vous désabonner à tout moment.',
	unavailable: 'Veuillez réessayer dans un instant',
	unavailableMeans: 'Ce n’est pas possible pour le moment. Rien n’a été modifié.',
}

const es: PublicWords = {
	unsubscribe: 'Darse de baja',
	unsubscribeQuestion: '¿Desea que {email} deje de recibir los boletines de {project}?',
	unsubscribed: 'Se ha dado de baja',
	unsubscribedMeans: '{email} ya no recibe los boletines de {project}.',
	subscribe: 'Suscribirse',
	subscribeQuestion: '¿Desea que {email} reciba los boletines de {project}?',
	subscribed: 'La suscripción está activa',
	subscribedMeans: '{email} recibe los boletines de {project}.',
	subscribeAgain: 'Suscribirse de nuevo',
	manage: 'Preferencias de correo',
	manageIntroduction: '¿Qué puede enviar {project} a {email}?',
	all: 'Boletines y correos necesarios',
	allMeans: 'También novedades y ofertas.',
	necessary: 'Solo correos necesarios',
	necessaryMeans: 'Por ejemplo, recibos y respuestas a lo que usted mismo hace.',
	none: 'Ningún correo',
	noneMeans: 'Tampoco recibos ni enlaces para una contraseña nueva.',
	stopped: '{email} no recibe ningún correo de {project}.',
	fromMail:
		'Para dejar de recibir todos los correos, o volver a recibirlos, abra esta página desde el enlace de uno de ellos.',
	save: 'Guardar',
	saved: 'Su elección se ha guardado.',
	missing: 'Este enlace no lleva a ninguna parte',
	missingMeans:
		'Puede que esté incompleto o que su destino ya no exista. Ábralo de nuevo desde el correo.',
	tooOften: 'Inténtelo de nuevo más tarde',
	tooOftenMeans:
		'Esto se ha hecho muchas veces en una hora. No se ha cambiado nada; puede darse de baja en cualquier momento.',
	unavailable: 'Inténtelo de nuevo en un momento',
	unavailableMeans: 'Ahora mismo no es posible. No se ha cambiado nada.',
}

const nl: PublicWords = {
	unsubscribe: 'Uitschrijven',
	unsubscribeQuestion: 'Wilt u dat {email} geen nieuwsbrieven van {project} meer ontvangt?',
	unsubscribed: 'U bent uitgeschreven',
	unsubscribedMeans: '{email} ontvangt geen nieuwsbrieven van {project} meer.',
	subscribe: 'Inschrijven',
	subscribeQuestion: 'Wilt u dat {email} nieuwsbrieven van {project} ontvangt?',
	subscribed: 'U bent ingeschreven',
	subscribedMeans: '{email} ontvangt nieuwsbrieven van {project}.',
	subscribeAgain: 'Opnieuw inschrijven',
	manage: 'E-mailvoorkeuren',
	manageIntroduction: 'Wat mag {project} naar {email} sturen?',
	all: 'Nieuwsbrieven en noodzakelijke e-mails',
	allMeans: 'Ook nieuws en aanbiedingen.',
	necessary: 'Alleen noodzakelijke e-mails',
	necessaryMeans: 'Zoals bonnen, en antwoorden op wat u zelf doet.',
	none: 'Helemaal geen e-mails',
	noneMeans: 'Ook geen bonnen of links voor een nieuw wachtwoord.',
	stopped: '{email} ontvangt helemaal geen e-mails van {project}.',
	fromMail:
		'Om alle e-mails te stoppen of weer te ontvangen, opent u deze pagina via de link in een ervan.',
	save: 'Opslaan',
	saved: 'Uw keuze is opgeslagen.',
	missing: 'Deze link leidt nergens heen',
	missingMeans:
		'Misschien is hij onvolledig, of bestaat het doel niet meer. Open hem nog eens vanuit de e-mail.',
	tooOften: 'Probeer het later nog eens',
	tooOftenMeans:
		'Dit is binnen een uur heel vaak gedaan. Er is niets gewijzigd; uitschrijven kan altijd.',
	unavailable: 'Probeer het zo dadelijk nog eens',
	unavailableMeans: 'Dit lukt op dit moment niet. Er is niets gewijzigd.',
}

export const publicWords: Record<string, PublicWords> = { en, de, fr, es, nl }

const isSpoken = (language: string) => Object.hasOwn(publicWords, language)

/** The supported language closest to a tag; English if there is none. */
export function spokenLanguage(tag: string): string {
	const language = primaryLanguage(tag)
	return isSpoken(language) ? language : 'en'
}

/** The browser's preferred language among ours; for pages without a known contact. */
export function acceptedLanguage(header = ''): string {
	const wishes = header.split(',').map((wish) => {
		const [tag = '', weight = ''] = wish.split(';q=')
		return {
			language: primaryLanguage(tag.trim()),
			weight: weight === '' ? 1 : Number(weight) || 0,
		}
	})
	const spoken = wishes.filter(({ language, weight }) => isSpoken(language) && weight > 0)
	return spoken.toSorted((a, b) => b.weight - a.weight)[0]?.language ?? 'en'
}
