import { listed } from './plain-name.ts'
import type { Words } from './words.ts'

const kinds = {
	workflows: 'e-mails des workflows',
	campaigns: 'campagnes',
	transactional: 'e-mails transactionnels',
	inbound: 'e-mails entrants',
	total: 'tous les e-mails',
}

export const french: Words = {
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
		passwordReset: ({ isVerified }) => ({
			subject: 'Choisissez un nouveau mot de passe',
			paragraphs: [
				"Quelqu'un, sans doute vous, a demandé un nouveau mot de passe pour ce compte. Le lien est valable une heure.",
				...(isVerified
					? []
					: [
							'L’adresse de ce compte n’est pas encore vérifiée. Si le compte a des projets, choisir un mot de passe remplace aussi leurs clés, retire leurs autres membres et désactive leurs points de terminaison webhook. Les workflows qui envoient des données de contacts à d’autres adresses sont aussi désactivés.',
						]),
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
		memberAdded: ({ project, inviter }) => ({
			subject: `Vous avez été ajouté à ${project}`,
			paragraphs: [
				`${inviter} vous a ajouté au projet ${project}. Vous pouvez désormais y participer avec votre compte.`,
			],
			remark:
				'Si vous ne connaissez pas ce projet, vous n’avez rien à faire. Votre compte et vos propres projets ne sont pas concernés.',
		}),
		accountSecured: ({ projects, members }) => ({
			subject: 'Votre compte n’appartient plus qu’à vous',
			paragraphs: [
				'Votre adresse e-mail n’était pas encore vérifiée : quelqu’un d’autre aurait pu créer ce compte avec elle. Vous avez maintenant montré que l’adresse est la vôtre, et toutes les sessions précédentes ont pris fin.',
				`Les clés de ces projets ont été remplacées, leurs autres membres et les invitations en cours ont été retirés, et leurs points de terminaison webhook ont été désactivés : ${listed(projects)}.`,
				'Les workflows qui envoient des données de contacts à d’autres adresses, par webhook ou par e-mail, ont aussi été désactivés et leurs exécutions annulées.',
				...(members.length > 0 ? [`Membres retirés : ${listed(members)}.`] : []),
			],
			remark:
				'Rien n’a été supprimé. Créez de nouvelles clés avant que vos applications n’utilisent à nouveau ces projets. Donnez un nouveau secret à vos propres points de terminaison webhook et activez-les. Vérifiez les workflows, webhooks et domaines que vous n’avez pas configurés vous-même.',
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
		usageLimit: ({ project, category, used, limit, isReached }) => ({
			subject: isReached
				? `Une limite est atteinte : ${project}`
				: `Une limite est presque atteinte : ${project}`,
			paragraphs: [
				`Le projet ${project} a utilisé ${used} des ${limit} e-mails dont il dispose ce mois-ci (${kinds[category]}).`,
				isReached
					? "Jusqu'à la fin du mois (UTC) ou jusqu'au relèvement de la limite, rien de tel n'est plus envoyé ni accepté : les requêtes sont refusées, les campagnes suspendues et les étapes des workflows échouent."
					: "Une fois la limite atteinte, rien de tel n'est plus envoyé ni accepté jusqu'à la fin du mois (UTC).",
			],
			remark:
				"Un administrateur du projet peut relever les limites, ou souscrire un abonnement s'il ne reste que les e-mails gratuits.",
		}),
		paymentFailed: ({ project }) => ({
			subject: `Un paiement a échoué, l'envoi est suspendu : ${project}`,
			paragraphs: [
				`Le paiement du projet ${project} n'a pas pu être encaissé, malgré plusieurs tentatives.`,
				"L'envoi est donc suspendu. Les e-mails en attente, les campagnes et les workflows ont été annulés. Vos données restent consultables.",
			],
			remark:
				"Réglez la facture ouverte depuis la page de facturation du projet : l'envoi reprend dès qu'elle est payée.",
		}),
		webhookDisabled: ({ project, endpoint, reason }) => ({
			subject: `Un point de terminaison webhook est désactivé : ${project}`,
			paragraphs: [
				reason === 'GONE'
					? `${endpoint} a répondu qu'il n'existe plus (410). Le projet ${project} ne lui envoie plus d'événements.`
					: `${endpoint} n'a accepté aucun événement depuis cinq jours. Le projet ${project} ne lui envoie plus d'événements.`,
				'Ses événements sont conservés pendant 30 jours.',
			],
			remark: "Réactivez-le dès qu'il fonctionne, puis renvoyez les événements manqués.",
		}),
	},
}
