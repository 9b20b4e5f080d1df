/** What a reflection in another world sounds like: the aim, what else could be done and why it would help less, the reason to act. */
import type { Draw } from '#core/starter/draw.ts';
import type { ErrandMoment } from '#core/starter/errand-play.ts';
import type { Step } from '#core/starter/errand.ts';
import { admissibleActions, commandOf } from '#core/starter/errand-world.ts';
import type { ErrandAction } from '#core/starter/errand-world.ts';

/** What could be done instead of `next`. */
export function othersThan(next: Step, { world }: ErrandMoment): ErrandAction[] {
  const chosen = commandOf(world, next.action);
  return admissibleActions(world).filter((action) => commandOf(world, action) !== chosen);
}

/** @param others those that are judged are picked from them */
export function reflectionText(
  moment: ErrandMoment,
  next: Step,
  others: readonly ErrandAction[],
  draw: Draw,
): string {
  const { world, errand } = moment;
  const chosen = commandOf(world, next.action);
  const judged = draw
    .some([...others], draw.integer(1, 2))
    .map((action) => `I could ${commandOf(world, action)}, but ${objection(moment, action)}.`);
  const aim = draw.pick([`I have to ${errand.text}.`, `What I want is to ${errand.text}.`]);
  return [aim, ...judged, next.thought, `So I ${chosen}.`].join(' ');
}

function objection({ world, errand, agent }: ErrandMoment, action: ErrandAction): string {
  switch (action.kind) {
    case 'go':
      if (world.held !== -1) return 'I already hold what I need';
      return agent.looked.has(action.place)
        ? 'I have looked there already'
        : 'I know of no reason to begin there';
    case 'take':
      return world.things[action.thing]?.kind === errand.wanted
        ? 'that can wait'
        : 'it is not what is wanted';
    case 'put':
      return 'it does not belong here';
    case 'treat':
      return 'nobody asked for that';
    case 'open':
    case 'close':
      return 'what I want is elsewhere';
    case 'use':
      return 'that alone helps nobody';
    case 'look':
    case 'inventory':
      return 'that would show me nothing new';
  }
}
