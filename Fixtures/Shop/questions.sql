-- Each question has its name, and SQLite's statement for it. `make-shop.py` puts the answers into `answers.json`, and the tests in
-- Tests/HeartwoodCommandTests/Shop ask the same by one fetch each. Prices are cents here.

-- the ten artists of whom most tracks were sold
SELECT Artist.name, SUM(quantity) AS sold, printf('%.2f', SUM(quantity * InvoiceLine.unitPrice) / 100.0)
FROM InvoiceLine JOIN Track ON track = Track.number JOIN Album ON album = Album.number JOIN Artist ON artist = Artist.number
GROUP BY Artist.number ORDER BY sold DESC, Artist.name LIMIT 10;

-- revenue by country
SELECT country, COUNT(*), printf('%.2f', SUM(total) / 100.0), AVG(total) / 100.0
FROM Invoice GROUP BY country ORDER BY SUM(total) DESC, country;

-- revenue by month
SELECT CAST(substr(date, 1, 4) AS INT) AS year, CAST(substr(date, 6, 2) AS INT) AS month, printf('%.2f', SUM(total) / 100.0)
FROM Invoice GROUP BY year, month ORDER BY year, month;

-- revenue by country and year, above fifteen
SELECT country, CAST(substr(date, 1, 4) AS INT) AS year, printf('%.2f', SUM(total) / 100.0)
FROM Invoice GROUP BY country, year HAVING SUM(total) > 1500 ORDER BY country, year;

-- tracks that were never sold, the first twenty by name
SELECT name, number FROM Track WHERE NOT EXISTS (SELECT 1 FROM InvoiceLine WHERE track = Track.number)
ORDER BY name, number LIMIT 20;

-- how many tracks of each genre were never sold
SELECT Genre.name, COUNT(*) AS unsold FROM Track JOIN Genre ON genre = Genre.number
WHERE NOT EXISTS (SELECT 1 FROM InvoiceLine WHERE track = Track.number)
GROUP BY Genre.number ORDER BY unsold DESC, Genre.name;

-- playlists by length, empty ones too
SELECT Playlist.name, COUNT(Track.number), COALESCE(SUM(milliseconds), 0) AS length
FROM Playlist LEFT JOIN PlaylistTrack ON playlist = Playlist.number LEFT JOIN Track ON track = Track.number
GROUP BY Playlist.number ORDER BY length DESC, Playlist.number;

-- genres within playlists
SELECT Playlist.number, Genre.name, COUNT(*)
FROM Playlist JOIN PlaylistTrack ON playlist = Playlist.number JOIN Track ON track = Track.number JOIN Genre ON genre = Genre.number
GROUP BY Playlist.number, Genre.number ORDER BY Playlist.number, Genre.name;

-- the three best-selling albums of each genre
SELECT * FROM (
  SELECT Genre.name AS genre, Album.title AS title, SUM(quantity) AS sold,
    RANK() OVER (PARTITION BY Genre.number ORDER BY SUM(quantity) DESC) AS rank
  FROM InvoiceLine JOIN Track ON track = Track.number JOIN Album ON album = Album.number JOIN Genre ON genre = Genre.number
  GROUP BY Genre.number, Album.number)
WHERE rank <= 3 ORDER BY genre, rank, title;

-- ranks of the customers within their countries
SELECT Customer.country, lastName, printf('%.2f', SUM(total) / 100.0),
  RANK() OVER (PARTITION BY Customer.country ORDER BY SUM(total) DESC) AS rank
FROM Invoice JOIN Customer ON customer = Customer.number
GROUP BY Customer.number ORDER BY Customer.country, rank, lastName;

-- the running total of revenue
SELECT CAST(substr(date, 1, 4) AS INT) AS year, CAST(substr(date, 6, 2) AS INT) AS month,
  printf('%.2f', SUM(SUM(total)) OVER (ORDER BY substr(date, 1, 7)) / 100.0)
FROM Invoice GROUP BY year, month ORDER BY year, month;

-- each year's revenue beside the year before
SELECT CAST(substr(date, 1, 4) AS INT) AS year, printf('%.2f', SUM(total) / 100.0),
  CASE WHEN LAG(1) OVER (ORDER BY substr(date, 1, 4)) THEN
    printf('%.2f', (SUM(total) - LAG(SUM(total)) OVER (ORDER BY substr(date, 1, 4))) / 100.0) END
FROM Invoice GROUP BY year ORDER BY year;

-- the five customers who spent most
SELECT firstName, lastName, printf('%.2f', SUM(total) / 100.0), COUNT(*)
FROM Invoice JOIN Customer ON customer = Customer.number
GROUP BY Customer.number ORDER BY SUM(total) DESC, lastName LIMIT 5;

-- sales of each representative, also of those without any
SELECT Employee.lastName, COUNT(Invoice.number), printf('%.2f', COALESCE(SUM(total), 0) / 100.0)
FROM Employee
LEFT JOIN Customer ON representative = Employee.number LEFT JOIN Invoice ON customer = Customer.number
GROUP BY Employee.number ORDER BY Employee.number;

-- employees, their managers and how many report to them
SELECT Employee.lastName, Manager.lastName, (SELECT COUNT(*) FROM Employee AS Report WHERE Report.manager = Employee.number)
FROM Employee LEFT JOIN Employee AS Manager ON Employee.manager = Manager.number ORDER BY Employee.lastName;

-- the most popular genre of each country
SELECT country, genre, sold FROM (
  SELECT Customer.country AS country, Genre.name AS genre, SUM(quantity) AS sold,
    RANK() OVER (PARTITION BY Customer.country ORDER BY SUM(quantity) DESC) AS rank
  FROM InvoiceLine JOIN Invoice ON invoice = Invoice.number JOIN Customer ON customer = Customer.number
  JOIN Track ON track = Track.number JOIN Genre ON genre = Genre.number
  GROUP BY Customer.country, Genre.number)
WHERE rank = 1 ORDER BY country, genre;

-- tracks more than three times as long as the average of their genre
SELECT name, milliseconds FROM Track
WHERE milliseconds > 3 * (SELECT AVG(milliseconds) FROM Track AS Other WHERE Other.genre = Track.genre)
ORDER BY milliseconds DESC, number;

-- albums of which every track is longer than five minutes
SELECT title FROM Album
WHERE NOT EXISTS (SELECT 1 FROM Track WHERE album = Album.number AND milliseconds <= 300000)
ORDER BY title;

-- artists without an album
SELECT COUNT(*) FROM Artist WHERE NOT EXISTS (SELECT 1 FROM Album WHERE artist = Artist.number);

-- artists with most albums, and their tracks
SELECT name, (SELECT COUNT(*) FROM Album WHERE artist = Artist.number) AS albums,
  (SELECT COUNT(*) FROM Track JOIN Album ON album = Album.number WHERE artist = Artist.number)
FROM Artist ORDER BY albums DESC, name LIMIT 10;

-- the average number of tracks of an album, and the longest album
SELECT AVG(tracks), MAX(length) FROM (SELECT COUNT(*) AS tracks, SUM(milliseconds) AS length FROM Track GROUP BY album);

-- invoices whose total is not the sum of their lines
SELECT COUNT(*) FROM Invoice
WHERE total <> (SELECT SUM(quantity * unitPrice) FROM InvoiceLine WHERE invoice = Invoice.number);

-- customers who bought jazz but no metal
SELECT lastName FROM Customer
WHERE EXISTS (SELECT 1 FROM Invoice JOIN InvoiceLine ON invoice = Invoice.number JOIN Track ON track = Track.number
    JOIN Genre ON genre = Genre.number WHERE customer = Customer.number AND Genre.name = 'Jazz')
  AND NOT EXISTS (SELECT 1 FROM Invoice JOIN InvoiceLine ON invoice = Invoice.number JOIN Track ON track = Track.number
    JOIN Genre ON genre = Genre.number WHERE customer = Customer.number AND Genre.name = 'Metal')
ORDER BY lastName;

-- median length by media type
SELECT name, AVG(milliseconds) FROM (
  SELECT MediaType.name, milliseconds, ROW_NUMBER() OVER (PARTITION BY mediaType ORDER BY milliseconds) AS place,
    COUNT(*) OVER (PARTITION BY mediaType) AS count
  FROM Track JOIN MediaType ON mediaType = MediaType.number)
WHERE place IN ((count + 1) / 2, (count + 2) / 2) GROUP BY name ORDER BY name;

-- the share of each genre in all tracks, in percent
SELECT Genre.name, COUNT(*) AS tracks, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () FROM Track JOIN Genre ON genre = Genre.number
GROUP BY Genre.number ORDER BY tracks DESC, Genre.name;

-- tracks in more than three playlists
SELECT COUNT(*) FROM Track WHERE (SELECT COUNT(*) FROM PlaylistTrack WHERE track = Track.number) > 3;

-- how many composers are known, and how many tracks have none
SELECT COUNT(DISTINCT composer), COUNT(*) - COUNT(composer) FROM Track;

-- from the first to the last purchase of the customers
SELECT lastName, MIN(substr(date, 1, 10)), MAX(substr(date, 1, 10)), COUNT(*)
FROM Invoice JOIN Customer ON customer = Customer.number GROUP BY Customer.number ORDER BY Customer.number;

-- how many genres each customer bought
SELECT lastName, COUNT(DISTINCT genre) AS genres
FROM InvoiceLine JOIN Invoice ON invoice = Invoice.number JOIN Customer ON customer = Customer.number JOIN Track ON track = Track.number
GROUP BY Customer.number ORDER BY genres DESC, lastName;

-- love in the names of tracks, by genre
SELECT Genre.name, COUNT(*) AS tracks FROM Track JOIN Genre ON genre = Genre.number
WHERE Track.name LIKE '%love%' GROUP BY Genre.number HAVING tracks > 1 ORDER BY tracks DESC, Genre.name;

-- the third page of twenty albums by title
SELECT title, Artist.name FROM Album JOIN Artist ON artist = Artist.number ORDER BY title, Album.number LIMIT 20 OFFSET 40;

-- sales by the day of the week
SELECT CAST(strftime('%w', date) AS INT) + 1 AS weekday, COUNT(*), SUM(total >= 1000) FROM Invoice GROUP BY weekday ORDER BY weekday;
