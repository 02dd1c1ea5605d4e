/** Verbs of the program around the host. */
import { refusal, type Implementation } from './implementation.ts'
import type { ShellDesk } from './shell/desk.ts'

// The return type is what the contract makes of it, as for the whole router.
export function shellHandlers(os: Implementation, desk: ShellDesk) {
  return {
    about: os.shell.about.handler(() => desk.about()),
    save: os.shell.save.handler(async ({ input, context, errors }) => {
      const begun = await desk.saves.begin(context.peer, input.name, input.bytes)
      if (!begun.ok) throw errors.REFUSED(refusal(begun.error))
      return { id: begun.value }
    }),
    put: os.shell.put.handler(async ({ input, context, errors }) => {
      const taken = await desk.saves.put(context.peer, input)
      if (!taken.ok) throw errors.REFUSED(refusal(taken.error))
      return { name: taken.value }
    }),
    drop: os.shell.drop.handler(({ input, context }) => desk.saves.drop(context.peer, input.id)),
    setMenu: os.shell.setMenu.handler(({ input }) => desk.setMenu(input)),
    openLink: os.shell.openLink.handler(async ({ input, errors }) => {
      const opened = await desk.openLink(input.url)
      if (!opened.ok) throw errors.REFUSED(refusal(opened.error))
    }),
    forgetSecrets: os.shell.forgetSecrets.handler(({ input, errors }) => {
      const forgotten = desk.secrets.forget(input.file)
      if (!forgotten.ok) throw errors.REFUSED(refusal(forgotten.error))
      return { forgotten: forgotten.value }
    }),
    events: os.shell.events.handler(({ signal }) => desk.events(signal)),
  }
}
