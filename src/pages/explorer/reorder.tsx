import { Children, cloneElement, isValidElement, type ComponentProps, type ReactElement } from 'react';

interface GroupProps extends ComponentProps<'ul'> {
  readonly values: unknown;
  readonly onReorder: unknown;
  readonly axis: unknown;
}

interface ItemProps extends ComponentProps<'li'> {
  readonly value: never;
  readonly dragElastic: unknown;
  readonly dragConstraints: unknown;
}

type CurrentProps = ComponentProps<'button'>;

/**
 * Stands in for framer-motion below GraphiQL's tabs (`@graphiql/react` 0.39).
 *
 * Theirs are elements of the role "tab" with two buttons inside, which screen readers can't announce, and import 100 kB
 * of animation. These are a list of buttons, the first of the open tab marked as current; they can't be dragged.
 */
export const Reorder = {
  Group({ values: _values, onReorder: _onReorder, axis: _axis, role: _role, ...props }: GroupProps) {
    return <ul {...props} />;
  },
  Item({ value: _value, dragElastic: _e, dragConstraints: _c, role: _role, children, ...props }: ItemProps) {
    const { 'aria-selected': isOpen, ...rest } = props;
    const [button, ...others] = Children.toArray(children);
    return (
      <li {...rest}>
        {isValidElement(button) && isOpen === true
          ? cloneElement(button as ReactElement<CurrentProps>, { 'aria-current': 'true' })
          : button}
        {others}
      </li>
    );
  },
};
