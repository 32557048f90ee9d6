import { listed } from './plain-name.ts'
import type { Words } from './words.ts'

const kinds = {
	workflows: 'correos de workflows',
	campaigns: 'campañas',
	transactional: 'correos transaccionales',
	inbound: 'correos entrantes',
	total: 'todos los correos',
}

export const spanish: Words = {
	addressOfButton: 'Si el botón no funciona, abra esta dirección en su navegador:',
	letters: {
		verification: () => ({
			subject: 'Confirme su dirección de correo',
			paragraphs: ['Confirme que esta dirección es suya. El enlace es válido durante una hora.'],
			button: 'Confirmar la dirección',
			remark: '¿No se ha registrado? Entonces no tiene que hacer nada.',
		}),
		passwordReset: ({ isVerified }) => ({
			subject: 'Elija una contraseña nueva',
			paragraphs: [
				'Alguien, probablemente usted, ha pedido una contraseña nueva para esta cuenta. El enlace es válido durante una hora.',
				...(isVerified
					? []
					: [
							'La dirección de esta cuenta todavía no está verificada. Si la cuenta tiene proyectos, al elegir una contraseña también se reemplazan sus claves, se retiran sus demás miembros y se desactivan sus endpoints de webhooks. También se desactivan los workflows que envían datos de contactos a otras direcciones.',
						]),
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
		memberAdded: ({ project, inviter }) => ({
			subject: `Le han añadido a ${project}`,
			paragraphs: [
				`${inviter} le ha añadido al proyecto ${project}. Ya puede colaborar en él con su cuenta.`,
			],
			remark:
				'Si no conoce este proyecto, no tiene que hacer nada. Su cuenta y sus propios proyectos no se ven afectados.',
		}),
		accountSecured: ({ projects, members }) => ({
			subject: 'Su cuenta ya es solo suya',
			paragraphs: [
				'Su dirección de correo no estaba verificada, así que otra persona podría haber creado esta cuenta con ella. Ahora ha demostrado que la dirección es suya, y todas las sesiones anteriores han terminado.',
				`Se han reemplazado las claves de estos proyectos, se han retirado sus demás miembros y las invitaciones abiertas, y se han desactivado sus endpoints de webhooks: ${listed(projects)}.`,
				'También se han desactivado los workflows que envían datos de contactos a otras direcciones, por webhook o por correo, y se han cancelado sus ejecuciones.',
				...(members.length > 0 ? [`Miembros retirados: ${listed(members)}.`] : []),
			],
			remark:
				'No se ha borrado nada. Cree claves nuevas antes de que sus aplicaciones vuelvan a usar estos proyectos. Asigne un secreto nuevo a sus propios endpoints de webhooks y actívelos. Revise los workflows, webhooks y dominios que no haya configurado usted.',
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
		usageLimit: ({ project, category, used, limit, isReached }) => ({
			subject: isReached
				? `Se ha alcanzado un límite: ${project}`
				: `Casi se ha alcanzado un límite: ${project}`,
			paragraphs: [
				`El proyecto ${project} ha usado ${used} de los ${limit} correos que tiene este mes (${kinds[category]}).`,
				isReached
					? 'Hasta que termine el mes (UTC) o se suba el límite, no se envía ni se acepta nada más de ello: las solicitudes se rechazan, las campañas se pausan y los pasos de los workflows fallan.'
					: 'Cuando se alcance el límite, no se enviará ni aceptará nada más de ello hasta que termine el mes (UTC).',
			],
			remark:
				'Un administrador del proyecto puede subir los límites, o suscribirse si solo quedan los correos gratuitos.',
		}),
		paymentFailed: ({ project }) => ({
			subject: `Ha fallado un pago y el envío está suspendido: ${project}`,
			paragraphs: [
				`El pago del proyecto ${project} no se ha podido cobrar tras varios intentos.`,
				'Por eso el envío está suspendido. Se han cancelado los correos en espera, las campañas y los workflows. Sus datos se pueden seguir leyendo.',
			],
			remark:
				'Pague la factura pendiente desde la página de facturación del proyecto: se podrá enviar de nuevo en cuanto esté pagada.',
		}),
		webhookDisabled: ({ project, endpoint, reason }) => ({
			subject: `Un endpoint de webhooks está desactivado: ${project}`,
			paragraphs: [
				reason === 'GONE'
					? `${endpoint} ha respondido que ya no existe (410). El proyecto ${project} no le envía más eventos.`
					: `${endpoint} no ha aceptado ningún evento desde hace cinco días. El proyecto ${project} no le envía más eventos.`,
				'Sus eventos se conservan durante 30 días.',
			],
			remark: 'Vuelva a activarlo cuando funcione y reenvíe los eventos perdidos.',
		}),
	},
}
