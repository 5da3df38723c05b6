"""Makes the versioned models of two applications, and what changes from each version to the next.

    python3 make-models.py

`music-01.json` to `music-10.json` and `shop-01.json` to `shop-10.json` are models as `heartwood import`, `heartwood migrate`
and `heartwood model diff` read them. `music-changes.json` and `shop-changes.json` say in plain terms what each version does
to the objects: the tests apply that to plain values and compare. Running it again gives the same bytes.

Notation of attributes: `name:type`, then `!` for mandatory, `*` for unique, `+` for indexed, and `=value` for a default.
Notation of relationships: `Entity.name`, then `*` for to-many or `**` for ordered to-many.
"""

import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def attribute(text):
    name, rest = text.strip().split(":", 1)
    rest, _, default = rest.partition("=")
    made = {"type": rest.rstrip("!*+")}
    if "!" not in rest:
        made["optional"] = True
    if "*" in rest:
        made["unique"] = True
    if "+" in rest:
        made["indexed"] = True
    if default:
        made["default"] = json.loads(default)
    return name, made


def end(text):
    owner, name = text.rstrip("*").split(".")
    return owner, name, text.endswith("*"), text.endswith("**")


def plain(value):
    """A default value as text."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


class Application:
    def __init__(self, name):
        self.name, self.number, self.entities, self.steps = name, 1, {}, []

    # What models consist of.

    def note(self, do, **words):
        if self.steps:
            self.steps[-1]["changes"].append({"do": do, **words})

    def entity(self, name, attributes="", abstract=False):
        name, _, parent = name.partition(" : ")
        made = {}
        if parent:
            made["superentity"] = parent
        if abstract:
            made["abstract"] = True
        # Every object has an identifier of its own, by which the tests recognise it.
        texts = ([] if parent else ["uid:string!*"]) + [text for text in attributes.split(",") if text.strip()]
        made["attributes"] = dict(attribute(text) for text in texts)
        made["relationships"] = {}
        self.entities[name] = made
        self.note("add entity", entity=name, parent=parent or None)

    def link(self, one, other, rules=("nullify", "nullify"), mandatory=False):
        ends = [end(one), end(other)]
        for place, (owner, name, many, ordered) in enumerate(ends):
            made = {"destination": ends[1 - place][0]}
            if many:
                made["toMany"] = True
            if ordered:
                made["ordered"] = True
            if mandatory and place == 1:
                made["optional"] = False
            made["inverse"] = ends[1 - place][1]
            if rules[place] != "nullify":
                made["deleteRule"] = rules[place]
            self.entities[owner]["relationships"][name] = made

    def one_way(self, text, destination):
        owner, name, many, ordered = end(text)
        self.entities[owner]["relationships"][name] = {"destination": destination, **({"toMany": True} if many else {})}

    # Changes.

    def version(self):
        self.write()
        self.number += 1
        self.steps.append({"from": self.number - 1, "to": self.number, "changes": []})

    def by_code(self, do, **words):
        """A change that cannot be inferred: a stage has code for it, which the tests know by its name."""
        when = words.pop("when", "after")
        self.steps[-1].setdefault("code", []).append({"do": do, "when": when, **words})

    def add(self, entity, text):
        name, made = attribute(text)
        self.entities[entity]["attributes"][name] = made
        self.note("add attribute", entity=entity, name=name, value=plain(made.get("default")))

    def add_composite(self, entity, name, elements):
        made = dict(attribute(text) for text in elements.split(","))
        self.entities[entity]["attributes"][name] = {"type": "composite", "optional": True, "elements": made}
        for element in made:
            self.note("add attribute", entity=entity, name=f"{name}.{element}", value=None)

    def add_element(self, entity, name, text):
        element, made = attribute(text)
        self.entities[entity]["attributes"][name]["elements"][element] = made
        self.note("add attribute", entity=entity, name=f"{name}.{element}", value=None)

    def remove(self, entity, name):
        relationship = self.entities[entity]["relationships"].pop(name, None)
        if relationship:
            inverse = relationship.get("inverse")
            if inverse:
                owner = self.owner(relationship["destination"], inverse)
                del self.entities[owner]["relationships"][inverse]
                self.note("remove property", entity=owner, name=inverse)
        else:
            del self.entities[entity]["attributes"][name]
        self.note("remove property", entity=entity, name=name)

    def owner(self, entity, name):
        while name not in self.entities[entity]["relationships"]:
            entity = self.entities[entity]["superentity"]
        return entity

    def remove_entity(self, name):
        for property in list(self.entities[name]["relationships"]):
            self.remove(name, property)
        for other in self.entities:
            for property, made in list(self.entities[other]["relationships"].items()):
                if made["destination"] == name:
                    self.remove(other, property)
        del self.entities[name]
        self.note("remove entity", entity=name)

    def rename_entity(self, name, to):
        made = self.entities[name]
        # The first name stays the identifier, so that every older version finds it.
        made = {"renamed": made.pop("renamed", name), **made}
        self.entities = {to if other == name else other: made if other == name else self.entities[other]
                         for other in self.entities}
        for other in self.entities.values():
            if other.get("superentity") == name:
                other["superentity"] = to
            for relationship in other["relationships"].values():
                if relationship["destination"] == name:
                    relationship["destination"] = to
        self.note("rename entity", entity=name, to=to)

    def rename(self, entity, name, to):
        owner = self.entities[entity]
        for kind in ("attributes", "relationships"):
            if name in owner[kind]:
                made = owner[kind][name]
                made = {"renamed": made.pop("renamed", name), **made}
                owner[kind] = {to if other == name else other: made if other == name else owner[kind][other]
                               for other in owner[kind]}
                if "inverse" in made:
                    back = self.owner(made["destination"], made["inverse"])
                    self.entities[back]["relationships"][made["inverse"]]["inverse"] = to
        for group in owner.get("indexes", []) + owner.get("uniquenessConstraints", []):
            group[:] = [to if other == name else other for other in group]
        self.note("rename property", entity=entity, name=name, to=to)

    def retype(self, entity, name, type, default=None):
        made = self.entities[entity]["attributes"][name]
        made["type"] = type
        if default is not None:
            made["default"] = default
        self.note("change type", entity=entity, name=name, type=type)

    def mandatory(self, entity, name, value):
        made = self.entities[entity]["attributes"][name]
        made.pop("optional")
        made["default"] = value
        self.note("make mandatory", entity=entity, name=name, value=plain(value))

    def optional(self, entity, name):
        self.entities[entity]["attributes"][name]["optional"] = True

    def move(self, name, source, destination):
        self.entities[destination]["attributes"][name] = self.entities[source]["attributes"].pop(name)
        self.note("move attribute", name=name, entity=source, to=destination)

    def parent(self, entity, parent):
        """Sets the parent of an entity that has none, whose attributes it may then take over."""
        made = self.entities[entity]
        made["attributes"].pop("uid")
        self.entities[entity] = {"superentity": parent, **made}
        self.note("set parent", entity=entity, parent=parent)

    def leave_parent(self, entity, *inherited):
        """Makes an entity a root. Of what it inherited it keeps the attributes that it has itself from now on."""
        made = self.entities[entity]
        above, lost = made.pop("superentity"), []
        ancestors = []
        while above:
            ancestors.append(above)
            above = self.entities[above].get("superentity")
        for name, other in self.entities.items():
            lost += [f"{name}.{link}" for link, to in other["relationships"].items() if to["destination"] in ancestors]
        own = dict(attribute(text) for text in ("uid:string!*",) + inherited)
        made["attributes"] = {**own, **made["attributes"]}
        self.note("leave parent", entity=entity, keeps=[*made["attributes"], *made["relationships"]], links=lost)

    def to_many(self, entity, name):
        self.entities[entity]["relationships"][name]["toMany"] = True

    def order(self, entity, name):
        self.entities[entity]["relationships"][name]["ordered"] = True
        self.note("order", entity=entity, name=name)

    def unorder(self, entity, name):
        del self.entities[entity]["relationships"][name]["ordered"]

    def add_inverse(self, entity, name, text):
        owner, inverse, many, _ = end(text)
        made = self.entities[entity]["relationships"][name]
        made["inverse"] = inverse
        self.entities[owner]["relationships"][inverse] = {
            "destination": entity, **({"toMany": True} if many else {}), "inverse": name}
        self.note("add inverse", entity=entity, name=name, to=owner, inverse=inverse)

    def index(self, entity, *names):
        self.entities[entity].setdefault("indexes", []).append(list(names))

    def unique(self, entity, *names):
        self.entities[entity].setdefault("uniquenessConstraints", []).append(list(names))

    def delete_rule(self, entity, name, rule):
        self.entities[entity]["relationships"][name]["deleteRule"] = rule

    # Writing.

    def write(self):
        lines = []
        for name in sorted(self.entities):
            made = {key: value for key, value in self.entities[name].items() if value != {}}
            parts = []
            for key, value in made.items():
                if key in ("attributes", "relationships"):
                    inner = ",\n".join(f"        {json.dumps(n)}: {json.dumps(v)}" for n, v in value.items())
                    parts.append(f'      "{key}": {{\n{inner}\n      }}')
                else:
                    parts.append(f"      {json.dumps(key)}: {json.dumps(value)}")
            lines.append(f"    {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n    }")
        self.save(f"{self.number:02}.json", '{\n  "entities": {\n' + ",\n".join(lines) + "\n  }\n}\n")

    def finish(self):
        self.write()
        steps = []
        for step in self.steps:
            parts = [f'"from": {step["from"]}, "to": {step["to"]}']
            for key in ("code", "changes"):
                if key in step:
                    inner = ",\n".join("    " + json.dumps(change) for change in step[key])
                    parts.append(f'"{key}": [\n{inner}\n  ]')
            steps.append("  {" + ", ".join(parts) + "}")
        self.save("changes.json", "[\n" + ",\n".join(steps) + "\n]\n")

    def save(self, name, text):
        with open(os.path.join(FOLDER, f"{self.name}-{name}"), "w") as file:
            file.write(text)


def music():
    """A collection of music, videos and podcasts. Every version can be inferred from every earlier one."""
    app = Application("music")
    entity, link = app.entity, app.link
    entity("Item", "title:string, dateAdded:date, rating:integer16, comment:string", abstract=True)
    entity("Track : Item", "length:integer16, trackNumber:integer16, discNumber:integer16, bpm:integer16, lyrics:string, "
           "isExplicit:boolean!=false, fileSize:integer32, path:string")
    entity("Video : Item", "runtime:integer32, width:integer16, height:integer16")
    entity("Episode : Item", "published:date, isPlayed:boolean!=false, summary:string")
    entity("Audiobook : Item", "narrator:string, isAbridged:boolean")
    entity("Collection", "name:string, sortName:string", abstract=True)
    entity("Album : Collection", "year:integer16, isCompilation:boolean!=false")
    entity("Series : Collection", "feed:uri, language:string")
    entity("Playlist : Collection", "created:date")
    entity("SmartPlaylist : Playlist", "rule:string")
    entity("Artist", "name:string+, sortName:string, country:string")
    entity("Composer", "name:string, born:date")
    entity("Genre", "name:string")
    entity("Label", "name:string, founded:integer16")
    entity("Artwork", "image:data, width:integer16, height:integer16")
    entity("Device", "name:string, capacity:integer32, serial:uuid")
    entity("SyncRecord", "date:date, bytes:integer32")
    entity("PlayEvent", "date:date, seconds:integer16")
    entity("Review", "text:string, stars:integer16")
    entity("Tag", "word:string")
    entity("Folder", "name:string")
    entity("Equalizer", "name:string, gain:float")
    entity("Bookmark", "position:integer32")
    entity("Download", "source:uri, progress:float")
    entity("Account", "name:string, email:string")
    entity("Setting", "key:string, content:string")
    entity("Concert", "city:string, date:date")
    entity("Venue", "name:string, seats:integer16")
    entity("Purchase", "price:decimal, date:date")
    link("Album.tracks*", "Track.album")
    link("Artist.albums*", "Album.artist")
    link("Artist.tracks*", "Track.artist")
    link("Composer.tracks*", "Track.composer")
    link("Genre.items*", "Item.genre")
    link("Label.albums*", "Album.label")
    link("Playlist.items**", "Item.playlists*")
    link("Folder.children*", "Folder.container", rules=("cascade", "nullify"))
    link("Folder.playlists*", "Playlist.folder")
    link("Device.syncs*", "SyncRecord.device", rules=("cascade", "nullify"))
    link("SyncRecord.items*", "Item.syncs*")
    link("Item.plays*", "PlayEvent.item", rules=("cascade", "nullify"), mandatory=True)
    link("Item.reviews*", "Review.item", rules=("cascade", "nullify"))
    link("Account.reviews*", "Review.author")
    link("Tag.items*", "Item.tags*")
    link("Equalizer.tracks*", "Track.equalizer")
    link("Item.bookmarks*", "Bookmark.item", rules=("cascade", "nullify"))
    link("Item.download", "Download.item")
    link("Account.purchases*", "Purchase.account", rules=("deny", "nullify"))
    link("Purchase.items*", "Item.purchase")
    link("Concert.artists*", "Artist.concerts*")
    link("Venue.concerts*", "Concert.venue")
    link("Series.episodes**", "Episode.series")
    link("Account.settings*", "Setting.account")
    link("Account.devices*", "Device.user")
    app.one_way("Collection.artwork", "Artwork")

    app.version()  # 2: new attributes, an index
    app.add("Track", "isrc:string")
    app.add("Artist", "biography:string")
    app.add("Album", "isLive:boolean!=false")
    app.add("Account", "locale:string!=\"en\"")
    app.index("Item", "title")

    app.version()  # 3: other names, several genres
    app.rename("Item", "comment", "notes")
    app.rename("Track", "bpm", "tempo")
    app.rename_entity("Label", "RecordLabel")
    app.to_many("Item", "genre")
    app.rename("Item", "genre", "genres")

    app.version()  # 4: mandatory, wider, ordered
    app.mandatory("Item", "rating", 0)
    app.mandatory("Setting", "content", "")
    app.retype("Track", "length", "integer32")
    app.retype("Track", "fileSize", "integer64")
    app.order("Album", "tracks")
    app.delete_rule("Artist", "albums", "deny")

    app.version()  # 5: artists and bands share a parent
    app.entity("Contributor", "", abstract=True)
    app.parent("Artist", "Contributor")
    app.move("name", "Artist", "Contributor")
    app.move("country", "Artist", "Contributor")
    app.entity("Band : Contributor", "formed:integer16")
    app.link("Band.members*", "Artist.bands*")
    app.to_many("Album", "artist")
    app.rename("Album", "artist", "artists")

    app.version()  # 6: entities that go, and one that leaves its hierarchy
    app.remove_entity("Equalizer")
    app.remove_entity("SmartPlaylist")
    app.leave_parent("Audiobook", "title:string")
    app.to_many("Track", "composer")
    app.rename("Track", "composer", "composers")

    app.version()  # 7: an inverse, a constraint, wider types
    app.add_inverse("Collection", "artwork", "Artwork.collections*")
    app.unique("Tag", "word")
    app.retype("PlayEvent", "seconds", "double")
    app.retype("Bookmark", "position", "decimal")
    app.add("Purchase", "currency:string!=\"EUR\"")

    app.version()  # 8: names again, and a former name with another meaning
    app.rename_entity("Episode", "PodcastEpisode")
    app.rename_entity("Series", "Podcast")
    app.rename("Item", "notes", "remark")
    app.add("Item", "comment:string=\"none\"")
    app.rename("Podcast", "episodes", "broadcasts")

    app.version()  # 9: attributes that move, and more constraints and indexes
    app.move("lyrics", "Track", "Item")
    app.move("sortName", "Collection", "Album")
    app.retype("Track", "trackNumber", "integer32")
    app.unique("Account", "email")
    app.unique("Setting", "key", "content")
    app.index("Track", "discNumber", "trackNumber")
    app.remove("Concert", "city")

    app.version()  # 10: chapters, mandatory years, three degrees of explicit
    app.mandatory("Album", "year", 0)
    app.rename("Track", "isExplicit", "explicitness")
    app.retype("Track", "explicitness", "integer16", default=0)
    app.unorder("Podcast", "broadcasts")
    app.entity("Chapter", "name:string, start:double")
    app.link("Audiobook.chapters**", "Chapter.book", rules=("cascade", "nullify"))
    app.retype("Device", "capacity", "integer64")
    app.finish()


def shop():
    """A shop with its customers, sales and stock. Four versions need code."""
    app = Application("shop")
    entity, link = app.entity, app.link
    entity("Party", "email:string, phone:string, note:string", abstract=True)
    entity("Customer : Party", "fullName:string, number:integer32, creditLimit:double, street:string, city:string")
    entity("Supplier : Party", "company:string, rating:integer16")
    entity("Employee : Party", "name:string, salary:decimal, hired:date")
    entity("LeadSource", "name:string")
    entity("Lead", "name:string, score:integer16")
    entity("Campaign", "name:string, budget:double, starts:date")
    entity("Opportunity", "name:string, amount:double, closes:date")
    entity("Activity", "subject:string, date:date", abstract=True)
    entity("Call : Activity", "seconds:integer16")
    entity("Meeting : Activity", "place:string")
    entity("Mail : Activity", "body:string")
    entity("Task : Activity", "isDone:boolean!=false")
    entity("Product", "sku:string!*, name:string+, price:double, stock:integer16, weight:float, isActive:boolean!=true")
    entity("Bundle : Product", "saving:double")
    entity("DigitalGood : Product", "link:uri, bytes:integer64")
    entity("Category", "name:string")
    entity("Brand", "name:string, home:uri")
    entity("Variant", "colour:string, size:string")
    entity("Picture", "image:data, caption:string")
    entity("PriceList", "name:string, validFrom:date")
    entity("PriceEntry", "amount:decimal")
    entity("Discount", "percent:integer16")
    entity("Coupon", "code:string, uses:integer16")
    entity("Cart", "changed:date")
    entity("CartLine", "quantity:integer16")
    entity("Order", "number:string, date:date, status:integer16")
    entity("OrderLine", "quantity:integer16, amount:decimal")
    entity("Invoice", "number:string, total:decimal, due:date")
    entity("Payment", "amount:decimal, date:date", abstract=True)
    entity("CardPayment : Payment", "lastDigits:string")
    entity("BankPayment : Payment", "iban:string")
    entity("Refund", "amount:decimal, reason:string")
    entity("Shipment", "sent:date, tracking:string")
    entity("Carrier", "name:string")
    entity("Parcel", "weight:float")
    entity("Warehouse", "name:string, zip:integer32")
    entity("Bin", "label:string, capacity:integer16")
    entity("StockMove", "quantity:integer16, date:date")
    entity("Restitution", "reason:string, date:date")
    entity("Review", "stars:integer16, text:string")
    entity("WishList", "name:string")
    entity("Ticket", "subject:string, priority:integer16, opened:date")
    entity("TicketMessage", "text:string, date:date")
    entity("User", "login:string, email:string, lastSeen:date")
    entity("Role", "name:string")
    entity("Permission", "key:string")
    entity("AuditEntry", "action:string, date:date, payload:data")
    entity("Setting", "key:string, content:string")
    entity("Currency", "code:string, digits:integer16")
    entity("TaxRate", "percent:double")
    entity("Region", "name:string")
    link("Customer.orders*", "Order.customer", rules=("deny", "nullify"))
    link("Order.lines*", "OrderLine.order", rules=("cascade", "nullify"), mandatory=True)
    link("Product.orderLines*", "OrderLine.product")
    link("Order.invoices*", "Invoice.order")
    link("Invoice.payments*", "Payment.invoice")
    link("Payment.refunds*", "Refund.payment")
    link("Order.shipments*", "Shipment.order")
    link("Shipment.parcels*", "Parcel.shipment", rules=("cascade", "nullify"))
    link("Carrier.shipments*", "Shipment.carrier")
    link("Warehouse.bins*", "Bin.warehouse")
    link("Bin.moves*", "StockMove.bin")
    link("Product.moves*", "StockMove.product")
    link("Order.restitutions*", "Restitution.order")
    link("Coupon.orders*", "Order.coupon")
    link("Coupon.discount", "Discount.coupon")
    link("Category.children*", "Category.container")
    link("Category.products*", "Product.categories*")
    link("Brand.products*", "Product.brand")
    link("Product.variants*", "Variant.product", rules=("cascade", "nullify"))
    link("Product.pictures**", "Picture.product")
    link("Bundle.parts*", "Product.bundles*")
    link("PriceList.entries*", "PriceEntry.list")
    link("Product.priceEntries*", "PriceEntry.product")
    link("Currency.lists*", "PriceList.currency")
    link("Customer.cart", "Cart.customer")
    link("Cart.lines**", "CartLine.cart", rules=("cascade", "nullify"))
    link("Variant.cartLines*", "CartLine.variant")
    link("Customer.wishLists*", "WishList.customer")
    link("WishList.products**", "Product.wishLists*")
    link("Customer.reviews*", "Review.customer")
    link("Product.reviews*", "Review.product")
    link("Customer.tickets*", "Ticket.customer")
    link("Ticket.messages*", "TicketMessage.ticket", rules=("cascade", "nullify"))
    link("Employee.tickets*", "Ticket.agent")
    link("Supplier.products*", "Product.suppliers*")
    link("LeadSource.leads*", "Lead.source")
    link("Campaign.leads*", "Lead.campaigns*")
    link("Lead.opportunities*", "Opportunity.lead")
    link("Opportunity.activities*", "Activity.opportunity")
    link("Employee.activities*", "Activity.employee")
    link("User.roles*", "Role.users*")
    link("Role.permissions*", "Permission.roles*")
    link("User.entries*", "AuditEntry.user")
    link("Employee.user", "User.employee")
    link("Region.taxRates*", "TaxRate.region")
    link("Region.customers*", "Customer.region")
    app.one_way("Employee.manager", "Employee")
    app.one_way("Product.taxRate", "TaxRate")

    app.version()  # 2: new attributes and indexes
    app.add("User", "locale:string!=\"en\"")
    app.add("Order", "channel:string=\"web\"")
    app.add("Product", "ean:string")
    app.add("Invoice", "isPaid:boolean!=false")
    app.index("Order", "date", "number")

    app.version()  # 3: by code, names of customers in two parts
    app.add("Customer", "givenName:string")
    app.add("Customer", "familyName:string")
    app.by_code("split text", entity="Customer", name="fullName", parts=["givenName", "familyName"])

    app.version()  # 4: without the whole name
    app.remove("Customer", "fullName")
    app.mandatory("Customer", "familyName", "")
    app.rename("Party", "note", "remarks")

    app.version()  # 5: by code, prices in cents
    app.add("Product", "priceInCents:integer64")
    app.by_code("multiply by 100", entity="Product", name="price", parts=["priceInCents"])

    app.version()  # 6: without the former prices, several coupons
    app.remove("Product", "price")
    app.mandatory("Product", "priceInCents", 0)
    app.to_many("Order", "coupon")
    app.rename("Order", "coupon", "coupons")
    app.rename_entity("OrderLine", "LineItem")
    app.order("Order", "lines")

    app.version()  # 7: hierarchies
    app.leave_parent("DigitalGood", "name:string")
    app.leave_parent("Task")
    app.entity("Document", "", abstract=True)
    app.parent("Invoice", "Document")
    app.move("number", "Invoice", "Document")
    app.entity("CreditNote : Document", "amount:decimal")
    app.entity("SubscriptionOrder : Order", "period:integer16!=12")
    app.retype("Order", "status", "string")

    app.version()  # 8: by code, codes of coupons that are unique
    app.unique("Coupon", "code")
    app.by_code("keep first of equal", when="before", entity="Coupon", name="code")
    app.remove_entity("LeadSource")
    app.rename_entity("Restitution", "ReturnedGoods")

    app.version()  # 9: by code, addresses of their own
    app.entity("DeliveryAddress", "street:string, city:string")
    app.link("Customer.deliveryAddress", "DeliveryAddress.customer", rules=("cascade", "nullify"))
    app.by_code("move out", entity="Customer", name="deliveryAddress", parts=["street", "city"],
                to="DeliveryAddress", inverse="customer")
    app.retype("Product", "stock", "integer32")
    app.retype("Warehouse", "zip", "string")
    app.add_composite("Variant", "dimensions", "width:double, height:double")

    app.version()  # 10: what the addresses replace goes; managers know whom they manage
    app.remove("Customer", "street")
    app.remove("Customer", "city")
    app.mandatory("Ticket", "priority", 3)
    app.order("Ticket", "messages")
    app.add_inverse("Employee", "manager", "Employee.reports*")
    app.add_element("Variant", "dimensions", "depth:double")
    app.unique("User", "email")
    app.index("Ticket", "priority", "opened")
    app.optional("Product", "sku")
    app.finish()


music()
shop()
