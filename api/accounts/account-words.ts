/** `{project}` and `{email}` are replaced. */
export interface AccountWords {
	verify: string
	verifyMeans: string
	verifyElse: string
	verified: string
	reset: string
	newPassword: string
	passwordRule: string
	wasReset: string
	wasResetMeans: string
	/** Shown after an address was proved that was unverified before. */
	secured: string
	join: string
	joinMeans: string
	password: string
	accept: string
	joined: string
	loggedIn: string
	notLoggedIn: string
	notLoggedInMeans: string
	expired: string
	expiredMeans: string
	expiredLogin: string
	openConsole: string
}

/** In the same languages as the pages for contacts. */
export const accountWords: Record<string, AccountWords> = {
	en: {
		verify: 'Confirm your email address',
		verifyMeans:
			'Somebody signed up with this address and chose a password. Please confirm only if that was you.',
		verifyElse:
			'If it was not you, do not confirm: that person could then use the account. Ask for a new password instead, and the account is yours alone.',
		verified: 'Your address is confirmed',
		reset: 'Choose a new password',
		newPassword: 'New password',
		passwordRule: 'Between 8 and 200 characters',
		wasReset: 'Your password is changed',
		wasResetMeans: 'You can log in with it now. All your sessions have ended.',
		secured:
			'Your address was not verified before, so somebody else could have made this account. The keys of your projects were replaced, and their other members and open invitations removed. Their webhook endpoints were disabled, and so were workflows that send data of contacts to other addresses. We have sent you a mail with the details.',
		join: 'Join {project}',
		joinMeans: '{email} is invited to work on this project.',
		password: 'Password for your account',
		accept: 'Accept the invitation',
		joined: 'You are a member now',
		loggedIn: 'You are logged in',
		notLoggedIn: 'You are not logged in',
		notLoggedInMeans:
			'Logging in did not work. You need an account with a verified email address there. Please try again.',
		expired: 'This link is no longer valid',
		expiredMeans: 'A link works once, and for a limited time. Please ask for a new one.',
		expiredLogin:
			'This link logs in once. Log in with the password that npm start shows, or start it again for a new link.',
		openConsole: 'Open the console',
	},
	de: {
		verify: 'E-Mail-Adresse bestätigen',
		verifyMeans:
			'Jemand hat sich mit dieser Adresse registriert und ein Passwort gewählt. Bitte bestätigen Sie nur, wenn Sie das waren.',
		verifyElse:
			'Wenn Sie es nicht waren, bestätigen Sie nicht: Das Konto stünde sonst dieser Person offen. Fordern Sie stattdessen ein neues Passwort an, dann gehört es Ihnen allein.',
		verified: 'Ihre Adresse ist bestätigt',
		reset: 'Neues Passwort wählen',
		newPassword: 'Neues Passwort',
		passwordRule: 'Zwischen 8 und 200 Zeichen',
		wasReset: 'Ihr Passwort ist geändert',
		wasResetMeans:
			'Sie können sich jetzt damit anmelden. Wo Sie angemeldet waren, sind Sie es nicht mehr.',
		secured:
			'Ihre Adresse war bisher nicht bestätigt, das Konto hätte also jemand anderes anlegen können. Die Schlüssel Ihrer Projekte wurden ersetzt, andere Mitglieder und offene Einladungen entfernt und Webhook-Endpunkte deaktiviert, ebenso Workflows, die Daten von Kontakten an andere Adressen senden. Die Einzelheiten haben wir Ihnen per E-Mail geschickt.',
		join: 'Mitarbeit an {project}',
		joinMeans: '{email} ist eingeladen, an diesem Projekt mitzuarbeiten.',
		password: 'Passwort für Ihr Konto',
		accept: 'Einladung annehmen',
		joined: 'Sie sind jetzt Mitglied',
		loggedIn: 'Sie sind angemeldet',
		notLoggedIn: 'Sie sind nicht angemeldet',
		notLoggedInMeans:
			'Die Anmeldung von dort hat nicht geklappt. Nötig ist dort ein Konto mit bestätigter E-Mail-Adresse. Bitte versuchen Sie es noch einmal.',
		expired: 'Dieser Link gilt nicht mehr',
		expiredMeans:
			'Ein Link gilt einmal und nur für begrenzte Zeit. Bitte fordern Sie einen neuen an.',
		expiredLogin:
			'Dieser Link gilt für eine Anmeldung. Melden Sie sich mit dem Passwort an, das npm start anzeigt, oder starten Sie es neu, um einen neuen Link zu bekommen.',
		openConsole: 'Konsole öffnen',
	},
	fr: {
		verify: 'Confirmer votre adresse e-mail',
		verifyMeans:
			'Quelqu’un s’est inscrit avec cette adresse et a choisi un mot de passe. Confirmez seulement si c’était vous.',
		verifyElse:
			'Si ce n’était pas vous, ne confirmez pas : le compte serait ouvert à cette personne. Demandez plutôt un nouveau mot de passe, et il ne sera qu’à vous.',
		verified: 'Votre adresse est confirmée',
		reset: 'Choisir un nouveau mot de passe',
		newPassword: 'Nouveau mot de passe',
		passwordRule: 'Entre 8 et 200 caractères',
		wasReset: 'Votre mot de passe est modifié',
		wasResetMeans:
			'Vous pouvez l’utiliser dès maintenant. Toutes vos sessions ouvertes ont pris fin.',
		secured:
			'Votre adresse n’était pas encore vérifiée : quelqu’un d’autre aurait pu créer ce compte. Les clés de vos projets ont été remplacées, leurs autres membres et les invitations en cours ont été retirés. Leurs points de terminaison webhook ont été désactivés, comme les workflows qui envoient des données de contacts à d’autres adresses. Nous vous avons envoyé les détails par e-mail.',
		join: 'Rejoindre {project}',
		joinMeans: '{email} est invité à travailler sur ce projet.',
		password: 'Mot de passe de votre compte',
		accept: 'Accepter l’invitation',
		joined: 'Vous êtes maintenant membre',
		loggedIn: 'Vous êtes connecté',
		notLoggedIn: 'Vous n’êtes pas connecté',
		notLoggedInMeans:
			'La connexion depuis ce service n’a pas abouti. Il faut y avoir un compte avec une adresse e-mail vérifiée. Veuillez réessayer.',
		expired: 'Ce lien n’est plus valable',
		expiredMeans:
			'Un lien sert une seule fois et pendant un temps limité. Veuillez en demander un nouveau.',
		expiredLogin:
			'Ce lien ne sert qu’une fois. Connectez-vous avec le mot de passe affiché par npm start, ou relancez-le pour obtenir un nouveau lien.',
		openConsole: 'Ouvrir la console',
	},
	es: {
		verify: 'Confirmar su dirección de correo',
		verifyMeans:
			'Alguien se ha registrado con esta dirección y ha elegido una contraseña. Confirme solo si fue usted.',
		verifyElse:
			'Si no fue usted, no confirme: la cuenta quedaría abierta a esa persona. Solicite en su lugar una contraseña nueva y será solo suya.',
		verified: 'Su dirección está confirmada',
		reset: 'Elegir una contraseña nueva',
		newPassword: 'Contraseña nueva',
		passwordRule: 'Entre 8 y 200 caracteres',
		wasReset: 'Su contraseña se ha cambiado',
		wasResetMeans: 'Ya puede iniciar sesión con ella. Todas las sesiones abiertas han terminado.',
		secured:
			'Su dirección no estaba verificada, así que otra persona podría haber creado esta cuenta. Se han reemplazado las claves de sus proyectos y se han retirado sus demás miembros y las invitaciones abiertas. Sus endpoints de webhooks se han desactivado, al igual que los workflows que envían datos de contactos a otras direcciones. Le hemos enviado los detalles por correo.',
		join: 'Unirse a {project}',
		joinMeans: '{email} tiene una invitación para trabajar en este proyecto.',
		password: 'Contraseña de su cuenta',
		accept: 'Aceptar la invitación',
		joined: 'Ya es miembro',
		loggedIn: 'Ha iniciado sesión',
		notLoggedIn: 'No ha iniciado sesión',
		notLoggedInMeans:
			'No se ha podido iniciar sesión desde ese servicio. Hace falta tener allí una cuenta con una dirección de correo verificada. Inténtelo de nuevo.',
		expired: 'Este enlace ya no es válido',
		expiredMeans: 'Un enlace sirve una sola vez y por tiempo limitado. Solicite uno nuevo.',
		expiredLogin:
			'Este enlace sirve una sola vez. Inicie sesión con la contraseña que muestra npm start, o vuelva a ejecutarlo para obtener otro enlace.',
		openConsole: 'Abrir la consola',
	},
	nl: {
		verify: 'E-mailadres bevestigen',
		verifyMeans:
			'Iemand heeft zich met dit adres aangemeld en een wachtwoord gekozen. Bevestig alleen als u dat was.',
		verifyElse:
			'Was u het niet, bevestig dan niet: het account zou voor die persoon openstaan. Vraag in plaats daarvan een nieuw wachtwoord aan, dan is het alleen van u.',
		verified: 'Uw adres is bevestigd',
		reset: 'Nieuw wachtwoord kiezen',
		newPassword: 'Nieuw wachtwoord',
		passwordRule: 'Tussen 8 en 200 tekens',
		wasReset: 'Uw wachtwoord is gewijzigd',
		wasResetMeans: 'U kunt er nu mee inloggen. Waar u ingelogd was, bent u dat niet meer.',
		secured:
			'Uw adres was nog niet bevestigd, dus iemand anders had dit account kunnen aanmaken. De sleutels van uw projecten zijn vervangen en hun andere leden en openstaande uitnodigingen verwijderd. Hun webhook-endpoints zijn uitgeschakeld, net als workflows die gegevens van contacten naar andere adressen sturen. De details hebben we u gemaild.',
		join: 'Meewerken aan {project}',
		joinMeans: '{email} is uitgenodigd om aan dit project te werken.',
		password: 'Wachtwoord voor uw account',
		accept: 'Uitnodiging aannemen',
		joined: 'U bent nu lid',
		loggedIn: 'U bent ingelogd',
		notLoggedIn: 'U bent niet ingelogd',
		notLoggedInMeans:
			'Inloggen via die dienst is niet gelukt. Daar is een account met een bevestigd e-mailadres voor nodig. Probeer het opnieuw.',
		expired: 'Deze link is niet meer geldig',
		expiredMeans: 'Een link werkt één keer en voor beperkte tijd. Vraag een nieuwe aan.',
		expiredLogin:
			'Deze link werkt één keer. Log in met het wachtwoord dat npm start toont, of start opnieuw voor een nieuwe link.',
		openConsole: 'Console openen',
	},
}
