/** Automatic checks of a page's appearance: truncation, overlaps, targets that are too small, and axe violations. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** Runs in the page. */
function layoutFaults(): string[] {
  const found: string[] = []
  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth)
    found.push(`the document is ${root.scrollWidth - root.clientWidth} px too wide`)
  const name = (e: Element): string => {
    const id = e.getAttribute('data-testid') ?? e.getAttribute('data-col') ?? ''
    const text = (e.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 40)
    const own = typeof e.className === 'string' ? e.className.trim().split(/\s+/).join('.') : ''
    return `<${e.tagName.toLowerCase()}${own === '' ? '' : `.${own}`}${id === '' ? '' : ` ${id}`}> "${text}"`
  }
  const isSeen = (e: Element): boolean => {
    const box = e.getBoundingClientRect()
    if (box.width < 1 || box.height < 1) return false
    const on = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
    return on !== null && (e.contains(on) || on.contains(e))
  }
  for (const e of document.querySelectorAll<HTMLElement>('.win *, [role=dialog] *')) {
    if (!e.checkVisibility({ visibilityProperty: true }) || e.closest('svg') !== null) continue
    const style = getComputedStyle(e)
    const hasText = [...e.childNodes].some((n) => n.nodeType === 3 && (n.textContent ?? '').trim() !== '')
    const isShut = style.overflowX === 'hidden' || style.overflowX === 'clip'
    if (isShut && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 4 && isSeen(e)) {
      const told = e.closest('[title]') !== null || e.querySelector('[title]') !== null
      const hasDots = style.textOverflow === 'ellipsis'
      if (hasText && !(told && hasDots)) {
        found.push(
          `cut by ${e.scrollWidth - e.clientWidth} px${hasDots ? ', no title' : told ? ', no ellipsis' : ''}: ${name(e)}`,
        )
      } else if (
        !hasText &&
        e.matches('.page-h, .panel-h, header, footer, .statusbar, .titlebar, .tile, th, td, [role=row]')
      ) {
        found.push(`content sticks out by ${e.scrollWidth - e.clientWidth} px: ${name(e)}`)
      }
    }
    if (
      e.matches('button, a[href], [role=button], [role=tab], [role=switch], [role=checkbox], input, select') &&
      isSeen(e)
    ) {
      const box = e.getBoundingClientRect()
      const x = box.x + box.width / 2
      const y = box.y + box.height / 2
      // The clickable area may be larger than the visible one.
      const isHit = (dx: number, dy: number): boolean => {
        const on = document.elementFromPoint(x + dx, y + dy)
        return on === null || e.contains(on) || e.closest('label')?.contains(on) === true
      }
      const high = box.height >= 23.5 || (isHit(0, 11.5) && isHit(0, -11.5))
      const wide = box.width >= 23.5 || (isHit(11.5, 0) && isHit(-11.5, 0))
      if (!high || !wide) found.push(`${Math.round(box.width)}x${Math.round(box.height)} target: ${name(e)}`)
    }
    if (e.matches('.page-h, .panel-h, header, footer, .statusbar, .titlebar, [role=row], tr, .bar')) {
      const boxes = [...e.children]
        .filter((c) => c.checkVisibility() && !['absolute', 'fixed'].includes(getComputedStyle(c).position))
        .map((c) => ({ c, box: c.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0)
      const own = e.getBoundingClientRect()
      boxes.forEach(({ c, box }, i) => {
        const next = boxes[i + 1]
        const meets =
          next !== undefined &&
          next.box.left < box.right - 1.5 &&
          next.box.top < box.bottom - 2 &&
          box.top < next.box.bottom - 2
        if (meets && next.box.left > box.left) found.push(`overlap: ${name(c)} and ${name(next.c)}`)
        if (isShut && box.right > own.right + 1.5)
          found.push(`sticks out by ${Math.round(box.right - own.right)} px: ${name(c)}`)
      })
    }
  }
  return [...new Set(found)]
}

export const lookForFaults = (page: Page): Promise<string[]> => page.evaluate(layoutFaults)

/** Accessibility violations of any impact. */
export async function axeFaults(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).disableRules(['region']).analyze()
  return violations.map((v) => `axe ${v.impact ?? ''} ${v.id} (${v.nodes.length}): ${v.nodes[0]?.html.slice(0, 160)}`)
}
