/** Verbs of incidents, on the desks of the host. */
import { refusal, type Implementation } from './implementation.ts'
import type { IncidentDesk } from './incidents/desk.ts'

// The return type is what the contract makes of it, as for the whole router.
export function incidentHandlers(os: Implementation, { notebooks, alerts, bundles }: IncidentDesk) {
  return {
    create: os.incidents.create.handler(async ({ input, errors }) => {
      const made = await notebooks.createInTurns(input)
      if (!made.ok) throw errors.REFUSED(refusal(made.error))
      return made.value
    }),
    change: os.incidents.change.handler(({ input: { id, ...change }, errors }) => {
      const changed = notebooks.change(id, change)
      if (!changed.ok) throw errors.REFUSED(refusal(changed.error))
    }),
    remove: os.incidents.remove.handler(({ input, errors }) => {
      const removed = notebooks.remove(input.id)
      if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
    }),
    restore: os.incidents.restore.handler(({ input, errors }) => {
      const restored = notebooks.restore(input.id)
      if (!restored.ok) throw errors.REFUSED(refusal(restored.error))
    }),
    addCell: os.incidents.addCell.handler(({ input, errors }) => {
      const added = notebooks.addCell(input.id, input.atMs, input.cell, input.behind)
      if (!added.ok) throw errors.REFUSED(refusal(added.error))
      return added.value
    }),
    editCell: os.incidents.editCell.handler(({ input, errors }) => {
      const edited = notebooks.editCell(input.id, input.cell, input.text)
      if (!edited.ok) throw errors.REFUSED(refusal(edited.error))
    }),
    moveCell: os.incidents.moveCell.handler(({ input, errors }) => {
      const moved = notebooks.moveCell(input.id, input.cell, input.by)
      if (!moved.ok) throw errors.REFUSED(refusal(moved.error))
    }),
    removeCell: os.incidents.removeCell.handler(({ input, errors }) => {
      const removed = notebooks.removeCell(input.id, input.cell)
      if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
    }),
    restoreCell: os.incidents.restoreCell.handler(({ input, errors }) => {
      const restored = notebooks.restoreCell(input.id, input.cell)
      if (!restored.ok) throw errors.REFUSED(refusal(restored.error))
    }),
    alertRules: os.incidents.alertRules.handler(() => ({ rules: alerts.rules() })),
    setAlertRule: os.incidents.setAlertRule.handler(({ input, errors }) => {
      const set = alerts.setRule(input)
      if (!set.ok) throw errors.REFUSED(refusal(set.error))
    }),
    preview: os.incidents.preview.handler(async ({ input, errors }) => {
      const preview = await bundles.preview(input)
      if (!preview.ok) throw errors.REFUSED(refusal(preview.error))
      return preview.value
    }),
    export: os.incidents.export.handler(({ input, errors, signal }) => {
      const events = bundles.export(input, signal)
      if (!events.ok) throw errors.REFUSED(refusal(events.error))
      return events.value
    }),
    markdown: os.incidents.markdown.handler(async ({ input, errors }) => {
      const written = await bundles.markdown(input)
      if (!written.ok) throw errors.REFUSED(refusal(written.error))
      return written.value
    }),
    read: os.incidents.read.handler(({ input, errors }) => {
      const parts = bundles.read(input.name)
      if (!parts.ok) throw errors.REFUSED(refusal(parts.error))
      return parts.value
    }),
    put: os.incidents.put.handler(async ({ input, errors }) => {
      const taken = await bundles.put(input)
      if (!taken.ok) throw errors.REFUSED(refusal(taken.error))
    }),
    verify: os.incidents.verify.handler(async ({ input, errors }) => {
      const verdict = await bundles.verify(input.name)
      if (!verdict.ok) throw errors.REFUSED(refusal(verdict.error))
      return verdict.value
    }),
    open: os.incidents.open.handler(async ({ input, errors }) => {
      const opened = await bundles.open(input.name)
      if (!opened.ok) throw errors.REFUSED(refusal(opened.error))
    }),
    removeBundle: os.incidents.removeBundle.handler(({ input, errors }) => {
      const removed = bundles.remove(input.name)
      if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
    }),
  }
}
