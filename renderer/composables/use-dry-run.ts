/** Test in sandbox, from any view: forks the state at the cursor, runs it on the model at once, and opens the sandbox. */
import { useRouter } from 'vue-router'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { Variant } from '#core/api/sandbox.ts'
import { useSandboxRunStore } from '../stores/sandbox-run.ts'
import { PLAIN, useSandboxVariantsStore } from '../stores/sandbox-variants.ts'

/** @returns  starts the test; `more` is a variant to run besides those that the fork suggests. */
export function useDryRun(): (more?: Variant) => void {
  const router = useRouter()
  const runs = useSandboxRunStore()
  const variants = useSandboxVariantsStore()
  return (more) => {
    void router.push({ name: 'sandbox' })
    runs.dryRun('closed', () => {
      if (more === undefined) return
      // A requested variant replaces a suggested one.
      while (variants.isFull) variants.remove(variants.entries.at(-1)!.id)
      variants.add(more)
    })
  }
}

type Staged = Pick<StagedFrame, 'service' | 'items'>
/** Variant with the staged rules, as lctl commands. */
export function stagedVariant({ service, items }: Staged): Variant {
  // A change of the expiry alone has no command.
  const written = items.filter(({ form, verb }) => verb !== 'change' || form.rate !== '' || form.rank !== '')
  const rules = written.map(({ form, verb }) => {
    const queue = form.queue === 'both' ? '' : `${form.queue} `
    const pairs = [
      form.rate === '' ? '' : `rate=${form.rate}`,
      form.rank === '' ? '' : `rank=${form.rank}`,
      form.realtime ? 'realtime=1' : '',
    ]
    const parts = verb === 'stop' ? [] : [verb === 'start' ? form.conditions : '', ...pairs]
    return { service, line: `${queue}${[verb, form.name, ...parts].filter(Boolean).join(' ')}` }
  })
  return { ...PLAIN, name: 'Staged rules', rules }
}
